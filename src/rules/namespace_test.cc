#include "rules/namespace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rules/metadata.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kStored =
    "{'metadata':{'name':'a','resourceVersion':'1','labels':{'kubernetes.io/metadata.name':'a'}},"
    "'spec':{'finalizers':['kubernetes']},'status':{'phase':'Active'}}";

TEST(Namespace, IsCompletedOnCreate) {
  codec::Value object =
      Json("{'metadata':{'name':'a','labels':{'own':'x','kubernetes.io/metadata.name':'wrong'}}}");
  DefaultNamespace(object);
  PrepareNamespaceCreate(object);
  EXPECT_EQ(object, Json("{'metadata':{'name':'a','labels':{'own':'x','kubernetes.io/"
                         "metadata.name':'a'}},'spec':{'finalizers':['kubernetes']},"
                         "'status':{'phase':'Active'}}"));
  EXPECT_THAT(Lines(ValidateNamespaceCreate(object)), IsEmpty());
}

TEST(Namespace, KeepsFinalizersItWasCreatedWith) {
  codec::Value object = Json(
      "{'metadata':{'name':'a'},'spec':{'finalizers':['a.io/b']},"
      "'status':{'phase':'Terminating'}}");
  PrepareNamespaceCreate(object);
  EXPECT_EQ(*object.Find("spec"), Json("{'finalizers':['a.io/b','kubernetes']}"));
  EXPECT_EQ(*object.Find("status"), Json("{'phase':'Active'}"));
}

TEST(Namespace, WithoutANameYetHasNoLabel) {
  codec::Value object = Json("{'metadata':{'generateName':'a-'}}");
  DefaultNamespace(object);
  EXPECT_EQ(object, Json("{'metadata':{'generateName':'a-'},'status':{'phase':'Active'}}"));
}

TEST(Namespace, NameIsALabel) {
  codec::Value object = Json("{'metadata':{'name':'" + std::string(64, 'x') + "'}}");
  DefaultNamespace(object);
  EXPECT_THAT(Lines(ValidateNamespaceCreate(object)),
              ElementsAre(HasSubstr("must be no more than 63 characters"),
                          HasSubstr("must be no more than 63 bytes")));
  EXPECT_THAT(Lines(ValidateNamespaceCreate(Json("{'metadata':{'name':'Bad_Name'}}"))),
              ElementsAre(HasSubstr("metadata.name: Invalid value: \"Bad_Name\": a lowercase")));
}

TEST(Namespace, UpdateLeavesFinalizersAndStatusAlone) {
  const codec::Value old = Json(kStored);
  codec::Value object = Json(
      "{'metadata':{'name':'a','resourceVersion':'1'},"
      "'spec':{'finalizers':['x.io/y']},'status':{'phase':'Terminating'}}");
  PrepareNamespaceUpdate(object, old);
  EXPECT_EQ(object, old);
  EXPECT_THAT(Lines(ValidateNamespaceUpdate(object, old)), IsEmpty());
  codec::Value without_spec = Json("{'metadata':{'name':'a','resourceVersion':'1'}}");
  PrepareNamespaceUpdate(without_spec, old);
  EXPECT_EQ(without_spec, old);
}

TEST(Namespace, StatusFollowsTheDeletionTimestamp) {
  const codec::Value old = Json(kStored);
  codec::Value object = Json(
      "{'metadata':{'name':'a','resourceVersion':'1'},"
      "'status':{'phase':'Terminating'}}");
  PrepareNamespaceStatusUpdate(object, old);
  EXPECT_EQ(*object.Find("spec"), Json("{'finalizers':['kubernetes']}"));
  EXPECT_THAT(Lines(ValidateNamespaceStatusUpdate(object, old)),
              ElementsAre("status.Phase: Invalid value: \"Terminating\": may only be 'Active' if "
                          "`deletionTimestamp` is empty"));
  codec::Value deleted = old;
  deleted.Find("metadata")->Set("deletionTimestamp", "2024-01-01T00:00:00Z");
  EXPECT_THAT(Lines(ValidateNamespaceStatusUpdate(deleted, deleted)),
              ElementsAre("status.Phase: Invalid value: \"Active\": may only be 'Terminating' if "
                          "`deletionTimestamp` is not empty"));
}

TEST(Namespace, FinalizeChecksFinalizersAndLeavesStatusAlone) {
  const codec::Value old = Json(kStored);
  codec::Value object =
      Json("{'metadata':{'name':'a','resourceVersion':'1'},'spec':{'finalizers':['bad name']}}");
  PrepareNamespaceFinalize(object, old);
  EXPECT_EQ(*object.Find("status"), Json("{'phase':'Active'}"));
  EXPECT_THAT(Lines(ValidateNamespaceFinalize(object, old)),
              ElementsAre(HasSubstr("spec.finalizers[0]: Invalid value: \"bad name\": name part"),
                          "spec.finalizers[0]: Invalid value: \"bad name\": name is neither a "
                          "standard finalizer name nor is it fully qualified"));
  EXPECT_THAT(Lines(ValidateNamespaceFinalize(old, old)), IsEmpty());
}

}  // namespace
}  // namespace berth::rules
