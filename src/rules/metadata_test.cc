#include "rules/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns an object with these members of metadata besides a name and a namespace.
codec::Value With(const std::string& members) {
  return Json("{'metadata':{'name':'a','namespace':'n','resourceVersion':'1'" +
              (members.empty() ? "" : "," + members) + "}}");
}

std::vector<std::string> Create(const codec::Value& object) {
  return Lines(ValidateMetadata(object, Scope::kNamespaced, NameIsDnsLabel, FinalizerRule::kCore));
}

TEST(Metadata, NameAndNamespace) {
  EXPECT_THAT(Create(With("")), IsEmpty());
  EXPECT_THAT(Create(Json("{'metadata':{}}")),
              ElementsAre("metadata.name: Required value: name or generateName is required",
                          "metadata.namespace: Required value"));
  EXPECT_THAT(Create(Json("{'metadata':{'name':'a.b','namespace':'N'}}")),
              ElementsAre("metadata.name: Invalid value: \"a.b\": must not contain dots",
                          HasSubstr("metadata.namespace: Invalid value: \"N\": a lowercase")));
  EXPECT_THAT(
      Lines(ValidateMetadata(With(""), Scope::kCluster, NameIsDnsLabel, FinalizerRule::kCore)),
      ElementsAre("metadata.namespace: Forbidden: not allowed on this type"));
}

TEST(Metadata, GenerateNameIsCheckedToo) {
  EXPECT_THAT(Create(With("'generateName':'web-'")), IsEmpty());
  EXPECT_THAT(
      Create(With("'generateName':'Bad_'")),
      ElementsAre(HasSubstr("metadata.generateName: Invalid value: \"Bad_\": a lowercase")));
}

TEST(Metadata, Generation) {
  EXPECT_THAT(Create(With("'generation':-1")),
              ElementsAre("metadata.generation: Invalid value: -1: must be greater than or equal "
                          "to 0"));
}

TEST(Metadata, Labels) {
  EXPECT_THAT(Create(With("'labels':{'bad key':'bad value'}")),
              ElementsAre(HasSubstr("metadata.labels: Invalid value: \"bad key\": name part must"),
                          HasSubstr("metadata.labels: Invalid value: \"bad value\": a valid")));
}

TEST(Metadata, Annotations) {
  EXPECT_THAT(Create(With("'annotations':{'Mixed.Case/Key':'anything at all'}")), IsEmpty());
  EXPECT_THAT(Create(With("'annotations':{'bad key':'x'}")),
              ElementsAre(HasSubstr("metadata.annotations: Invalid value: \"bad key\": name")));
  const std::string most(kMaxAnnotationBytes - 1, 'y');
  EXPECT_THAT(Create(With("'annotations':{'k':'" + most + "'}")), IsEmpty());
  EXPECT_THAT(Create(With("'annotations':{'k':'y" + most + "'}")),
              ElementsAre("metadata.annotations: Too long: may not be more than 262144 bytes"));
}

TEST(Metadata, Finalizers) {
  EXPECT_THAT(Create(With("'finalizers':['a.io/b','kubernetes','orphan']")), IsEmpty());
  EXPECT_THAT(Create(With("'finalizers':['nodomain']")),
              ElementsAre("metadata.finalizers[0]: Invalid value: \"nodomain\": name is neither a "
                          "standard finalizer name nor is it fully qualified"));
  EXPECT_THAT(Create(With("'finalizers':['bad name/x']")),
              ElementsAre(HasSubstr("metadata.finalizers: Invalid value: \"bad name/x\": prefix")));
  EXPECT_THAT(
      Create(With("'finalizers':['orphan','foregroundDeletion']")),
      ElementsAre("metadata.finalizers: Invalid value: [\"orphan\",\"foregroundDeletion\"]: "
                  "finalizer orphan and foregroundDeletion cannot be both set"));
  EXPECT_THAT(Lines(ValidateMetadata(With("'finalizers':['nodomain']"), Scope::kNamespaced,
                                     NameIsDnsLabel, FinalizerRule::kAny)),
              IsEmpty());
}

TEST(Metadata, Owners) {
  EXPECT_THAT(Create(With("'ownerReferences':[{'apiVersion':'v1','kind':'Pod'}]")),
              ElementsAre("metadata.ownerReferences.name: Invalid value: \"\": must not be empty",
                          "metadata.ownerReferences.uid: Invalid value: \"\": must not be empty"));
  EXPECT_THAT(
      Create(With("'ownerReferences':[{'name':'n','uid':'u'}]")),
      ElementsAre("metadata.ownerReferences.apiVersion: Invalid value: \"\": version must not be "
                  "empty",
                  "metadata.ownerReferences.kind: Invalid value: \"\": must not be empty"));
  EXPECT_THAT(
      Create(With("'ownerReferences':[{'apiVersion':'v1','kind':'Event','name':'a','uid':'u1'}]")),
      ElementsAre("metadata.ownerReferences: Invalid value: "
                  "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"name\":\"a\",\"uid\":\"u1\"}: /v1, "
                  "Kind=Event is disallowed from being an owner"));
  EXPECT_THAT(
      Create(With(
          "'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'a','uid':'1','controller':"
          "true},{'apiVersion':'v1','kind':'Pod','name':'b','uid':'2','controller':true}]")),
      ElementsAre(HasSubstr("Only one reference can have Controller set to true. Found \"true\" in "
                            "references for Pod/a and Pod/b")));
}

TEST(Metadata, ManagedFields) {
  EXPECT_THAT(
      Create(With("'managedFields':[{'manager':'m','operation':'Apply','fieldsType':'FieldsV1'}]")),
      IsEmpty());
  EXPECT_THAT(
      Create(With("'managedFields':[{},{'operation':'Delete','fieldsType':'V2','subresource':'" +
                  std::string(257, 's') + "','manager':'" + std::string(129, 'm') + "'}]")),
      ElementsAre("metadata.managedFields[0].operation: Required value: must not be empty",
                  "metadata.managedFields[1].operation: Unsupported value: \"Delete\": supported "
                  "values: \"Apply\", \"Update\"",
                  "metadata.managedFields[1].fieldsType: Invalid value: \"V2\": must be `FieldsV1`",
                  "metadata.managedFields[1].manager: Too long: may not be more than 128 bytes",
                  "metadata.managedFields[1].subresource: Too long: may not be more than 256 "
                  "bytes"));
}

TEST(Metadata, ManagersCanBeRead) {
  EXPECT_THAT(Create(With(R"('managedFields':[{'manager':'bad\u0007','operation':'Apply'}])")),
              ElementsAre("metadata.managedFields[0].manager: Invalid value: \"bad\\a\": invalid "
                          "character U+0007 (at position 3)"));
  EXPECT_THAT(Create(With(R"('managedFields':[{'manager':'a\u202e','operation':'Apply'}])")),
              ElementsAre("metadata.managedFields[0].manager: Invalid value: \"a\\u202e\": invalid "
                          "character U+202E (at position 1)"));
}

TEST(Metadata, EveryObjectMayHaveAnyNameThatFitsAPath) {
  EXPECT_THAT(Lines(ValidateCreatedMetadata(
                  Json("{'metadata':{'name':'Bad_Name','namespace':'n'}}"), Scope::kNamespaced)),
              IsEmpty());
  EXPECT_THAT(Lines(ValidateCreatedMetadata(Json("{'metadata':{'name':'a/b','namespace':'n'}}"),
                                            Scope::kNamespaced)),
              ElementsAre("metadata.name: Invalid value: \"a/b\": may not contain '/'"));
}

TEST(MetadataUpdate, WhatCannotChange) {
  const codec::Value old = With("'uid':'u','creationTimestamp':'2001-01-01T00:00:00Z'");
  const codec::Value now = Json(
      "{'metadata':{'name':'b','namespace':'m','uid':'v','generation':-1,"
      "'deletionTimestamp':'2001-01-01T00:00:00Z','deletionGracePeriodSeconds':5}}");
  EXPECT_THAT(
      Lines(ValidateMetadataUpdate(now, old, FinalizerRule::kCore)),
      ElementsAre("metadata.resourceVersion: Invalid value: \"\": must be specified for an update",
                  "metadata.generation: Invalid value: -1: must not be decremented",
                  "metadata.name: Invalid value: \"b\": field is immutable",
                  "metadata.namespace: Invalid value: \"m\": field is immutable",
                  "metadata.uid: Invalid value: \"v\": field is immutable",
                  "metadata.creationTimestamp: Invalid value: null: field is immutable",
                  "metadata.deletionTimestamp: Invalid value: \"2001-01-01T00:00:00Z\": field is "
                  "immutable",
                  "metadata.deletionGracePeriodSeconds: Invalid value: 5: field is immutable"));
}

TEST(MetadataUpdate, NoNewFinalizersOnceDeleted) {
  const std::string deleted = "'deletionTimestamp':'2001-01-01T00:00:00Z',";
  const codec::Value old = With(deleted + "'finalizers':['a.io/x','a.io/y']");
  EXPECT_THAT(Lines(ValidateMetadataUpdate(With(deleted + "'finalizers':['a.io/y']"), old,
                                           FinalizerRule::kCore)),
              IsEmpty());
  EXPECT_THAT(Lines(ValidateMetadataUpdate(With(deleted + "'finalizers':['z.io/x','new.io/x']"),
                                           old, FinalizerRule::kCore)),
              ElementsAre("metadata.finalizers: Forbidden: no new finalizers can be added if the "
                          "object is being deleted, found new finalizers []string{\"new.io/x\", "
                          "\"z.io/x\"}"));
}

TEST(MetadataUpdate, ClientsGetEachCauseAsOftenAsUpstreamFindsIt) {
  const codec::Value old = With("");
  const codec::Value now = With("'labels':{'bad key':'x'}");
  FieldErrors errors = ValidateUpdatedMetadata(now, old, Scope::kNamespaced);
  errors.Append(ValidateMetadataUpdate(now, old, FinalizerRule::kCore));
  EXPECT_EQ(errors.Causes().size(), 3U);
}

TEST(Metadata, WhatOnlyTheServerSetsIsRemovedOnCreate) {
  codec::Value object = With(
      "'uid':'u','creationTimestamp':'t','deletionTimestamp':'t','deletionGracePeriodSeconds':1,"
      "'selfLink':'l','generation':3,'labels':{'a':'b'}");
  PrepareCreatedMetadata(object);
  EXPECT_EQ(object, With("'generation':3,'labels':{'a':'b'}"));
}

TEST(MetadataUpdate, WhatAnUpdateCannotChangeIsRestored) {
  const codec::Value old = With(
      "'uid':'u','creationTimestamp':'t','deletionTimestamp':'d','deletionGracePeriodSeconds':1,"
      "'generation':3");
  codec::Value object = With("'creationTimestamp':'x','generation':9,'selfLink':'l'");
  PrepareUpdatedMetadata(object, old);
  EXPECT_EQ(object, old);
  codec::Value other_uid = With("'uid':'other'");
  PrepareUpdatedMetadata(other_uid, old);
  EXPECT_THAT(Lines(ValidateMetadataUpdate(other_uid, old, FinalizerRule::kAny)),
              ElementsAre("metadata.uid: Invalid value: \"other\": field is immutable"));
  codec::Value deleted = With("'deletionTimestamp':'d'");
  PrepareUpdatedMetadata(deleted, With(""));
  EXPECT_EQ(deleted, With("'deletionTimestamp':'d'")) << "for validation to refuse";
}

TEST(Metadata, RepeatedOwnersAreDroppedWithAWarning) {
  codec::Value object = With("'ownerReferences':[{'uid':'a'},{'uid':'b'},{'uid':'a'}]");
  EXPECT_EQ(DropRepeatedOwners(object),
            ".metadata.ownerReferences contains duplicate entries; API server dedups owner "
            "references in 1.20+, and may reject such requests as early as 1.24; please fix your "
            "requests; duplicate UID(s) observed: a");
  EXPECT_EQ(object, With("'ownerReferences':[{'uid':'a'},{'uid':'b'}]"));
  EXPECT_EQ(DropRepeatedOwners(object), std::nullopt);
}

TEST(Metadata, AHostileObjectIsRefusedInLittleSpace) {
  codec::Object labels;
  codec::Array owners;
  for (int i = 0; i < 20000; ++i) {
    labels.Set("bad key " + std::to_string(i), "bad value");
    owners.push_back(codec::Object{{"uid", std::to_string(i)}, {"controller", true}});
  }
  codec::Value object = With("");
  object.Find("metadata")->Set("labels", labels);
  EXPECT_LT(ValidateMetadata(object, Scope::kNamespaced, NameIsDnsLabel, FinalizerRule::kCore)
                .ToError("Service", "a")
                .message.size(),
            size_t{1} << 20);
  object = With("");
  object.Find("metadata")->Set("ownerReferences", owners);
  EXPECT_EQ(DropRepeatedOwners(object), std::nullopt);
  EXPECT_EQ(ValidateCreatedMetadata(object, Scope::kNamespaced).size(), kMostFieldErrors);
}

}  // namespace
}  // namespace berth::rules
