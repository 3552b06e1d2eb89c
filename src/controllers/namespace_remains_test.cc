#include "controllers/namespace_remains.h"

#include <gtest/gtest.h>

#include <string>

#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::controllers {
namespace {

using codec::Value;

const base::WallTime kBefore = *codec::ParseTime("2026-11-15T04:35:00Z");
const base::WallTime kNow = *codec::ParseTime("2026-11-15T05:00:00Z");

/// Returns "status reason: message" of a condition, and its time.
std::string Condition(const Value& name_space, std::string_view type) {
  std::string out = "none";
  for (const Value& each : codec::ArrayAt(name_space, "status", "conditions")) {
    if (codec::StringAt(each, "type") != type) continue;
    EXPECT_EQ(out, "none") << "twice";
    out.clear();
    for (const char* field : {"status", "reason", "message", "lastTransitionTime"}) {
      out += (out.empty() ? "" : " | ") + std::string(codec::StringAt(each, field));
    }
  }
  return out;
}

TEST(NamespaceRemainsTest, AllIsWell) {
  Value name_space = codec::Object();
  SetConditions(name_space, {}, kNow);
  const std::string at = " | 2026-11-15T05:00:00Z";
  EXPECT_EQ(codec::ArrayAt(name_space, "status", "conditions").size(), 5U);
  EXPECT_EQ(codec::StringAt(name_space, "status", "phase"), "Terminating");
  EXPECT_EQ(Condition(name_space, "NamespaceDeletionDiscoveryFailure"),
            "False | ResourcesDiscovered | All resources successfully discovered" + at);
  EXPECT_EQ(Condition(name_space, "NamespaceDeletionGroupVersionParsingFailure"),
            "False | ParsedGroupVersions | All legacy kube types successfully parsed" + at);
  EXPECT_EQ(Condition(name_space, "NamespaceDeletionContentFailure"),
            "False | ContentDeleted | All content successfully deleted, may be waiting on "
            "finalization" +
                at);
  EXPECT_EQ(Condition(name_space, "NamespaceContentRemaining"),
            "False | ContentRemoved | All content successfully removed" + at);
  EXPECT_EQ(Condition(name_space, "NamespaceFinalizersRemaining"),
            "False | ContentHasNoFinalizers | All content-preserving finalizers finished" + at);
}

TEST(NamespaceRemainsTest, SomethingIsLeft) {
  const Remains remains{.resources = {{"services.", 3}, {"leases.coordination.k8s.io", 1}},
                        .finalizers = {{"example.com/x", 1}, {"a.io/y", 4}},
                        .failures = {"no", "disk full"}};
  Value name_space = codec::Object();
  SetConditions(name_space, {}, kBefore);
  SetConditions(name_space, remains, kNow);
  const std::string at = " | 2026-11-15T05:00:00Z";
  EXPECT_EQ(codec::ArrayAt(name_space, "status", "conditions").size(), 5U);
  EXPECT_EQ(Condition(name_space, "NamespaceContentRemaining"),
            "True | SomeResourcesRemain | Some resources are remaining: "
            "leases.coordination.k8s.io has 1 resource instances, services. has 3 resource "
            "instances" +
                at);
  EXPECT_EQ(Condition(name_space, "NamespaceFinalizersRemaining"),
            "True | SomeFinalizersRemain | Some content in the namespace has finalizers "
            "remaining: a.io/y in 4 resource instances, example.com/x in 1 resource instances" +
                at);
  EXPECT_EQ(Condition(name_space, "NamespaceDeletionContentFailure"),
            "True | ContentDeletionFailed | Failed to delete all resource types, 2 remaining: "
            "disk full, no" +
                at);
  // A condition that has not changed keeps its time.
  EXPECT_TRUE(
      Condition(name_space, "NamespaceDeletionDiscoveryFailure").ends_with("2026-11-15T04:35:00Z"));
  EXPECT_EQ(Describe({.resources = {{"services.", 3}}}),
            "Some resources are remaining: services. has 3 resource instances");
}

TEST(NamespaceRemainsTest, TheTimeChangesWithTheStatusOnly) {
  Value name_space = codec::Object();
  SetConditions(name_space, {.resources = {{"services.", 3}}}, kBefore);
  SetConditions(name_space, {.resources = {{"services.", 2}}}, kNow);
  EXPECT_EQ(Condition(name_space, "NamespaceContentRemaining"),
            "True | SomeResourcesRemain | Some resources are remaining: services. has 2 resource "
            "instances | 2026-11-15T04:35:00Z");
}

TEST(NamespaceRemainsTest, OthersConditionsStay) {
  Value name_space = codec::Object();
  codec::SetAt(name_space, {"status", "conditions"},
               codec::Array{codec::Object{{"type", "Mine"}, {"status", "Unknown"}}});
  SetConditions(name_space, {}, kNow);
  EXPECT_EQ(codec::ArrayAt(name_space, "status", "conditions").size(), 6U);
  EXPECT_EQ(Condition(name_space, "Mine"), "Unknown |  |  | ");
  const Value before = name_space;
  SetConditions(name_space, {}, kBefore);
  EXPECT_EQ(name_space, before);
}

TEST(NamespaceRemainsTest, Finalizers) {
  Value name_space = codec::Object();
  codec::SetAt(name_space, {"spec", "finalizers"}, codec::Array{"kubernetes"});
  EXPECT_TRUE(HasNamespaceFinalizer(name_space));
  EXPECT_FALSE(HasOtherFinalizers(name_space));
  DropNamespaceFinalizer(name_space);
  EXPECT_FALSE(HasNamespaceFinalizer(name_space));
  EXPECT_FALSE(codec::HasAt(name_space, "spec", "finalizers"));

  codec::SetAt(name_space, {"spec", "finalizers"}, codec::Array{"a.io/b", "kubernetes"});
  EXPECT_TRUE(HasOtherFinalizers(name_space));
  DropNamespaceFinalizer(name_space);
  EXPECT_EQ(codec::Texts(codec::ArrayAt(name_space, "spec", "finalizers")),
            std::vector<std::string>{"a.io/b"});

  name_space = codec::Object();
  codec::SetAt(name_space, {"metadata", "finalizers"}, codec::Array{"a.io/b"});
  EXPECT_TRUE(HasOtherFinalizers(name_space));
}

}  // namespace
}  // namespace berth::controllers
