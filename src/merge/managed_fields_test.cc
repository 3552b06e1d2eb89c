#include "merge/managed_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "codec/testing/codec_kit.h"
#include "merge/compare.h"
#include "merge/field_set.h"
#include "merge/managers.h"
#include "merge/new_fields.h"
#include "merge/testing/merge_kit.h"

namespace berth::merge {
namespace {

using codec::Value;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

FieldWrite By(std::string_view manager, int at = 0, std::string_view subresource = {}) {
  return {.kind = api::kServiceKind, .subresource = subresource, .manager = manager, .now = At(at)};
}

// Returns the stored object after a create by "one".
Value Created(const std::string& text) {
  Value object = ObjectOf(text);
  TrackUpdate(By("one"), codec::Object(), object);
  codec::SetAt(object, {"metadata", "uid"}, "u");
  return object;
}

// Returns the stored object after another write.
Value Updated(const Value& live, const FieldWrite& write, const std::string& text) {
  Value object = ObjectOf(text);
  TrackUpdate(write, live, object);
  codec::SetAt(object, {"metadata", "uid"}, "u");
  return object;
}

TEST(TrackCreate, EverythingThatWasGivenIsOwned) {
  const Value object = Created(
      "{'metadata':{'name':'a','namespace':'b','generateName':'g','labels':{'y':'1','x':'2'},"
      "'finalizers':['e.com/b','e.com/a'],'ownerReferences':[{'apiVersion':'v1','kind':'K','name':"
      "'n','uid':'u1'}]},'spec':{'ports':[{'port':80,'protocol':'UDP'},{'port':9,'name':'x'}],"
      "'selector':{'a':'b'},'externalIPs':['1.2.3.4'],'sessionAffinityConfig':{'clientIP':{"
      "'timeoutSeconds':1}}}}");
  EXPECT_THAT(
      Owners(object),
      ElementsAre(
          "Update one v1 @0 {'f:metadata':{'f:finalizers':{'.':{},'v:\\'e.com/a\\'':{},'v:\\'e.com/"
          "b\\'':{}},'f:generateName':{},'f:labels':{'.':{},'f:x':{},'f:y':{}},'f:ownerReferences':"
          "{'.':{},'k:{\\'uid\\':\\'u1\\'}':{}}},'f:spec':{'f:externalIPs':{},'f:ports':{'.':{},"
          "'k:{\\'port\\':9,\\'protocol\\':\\'TCP\\'}':{'.':{},'f:name':{},'f:port':{},"
          "'f:targetPort':{}},'k:{\\'port\\':80,\\'protocol\\':\\'UDP\\'}':{'.':{},'f:port':{},"
          "'f:protocol':{},'f:targetPort':{}}},'f:selector':{},'f:sessionAffinityConfig':{'.':{},"
          "'f:clientIP':{'.':{},'f:timeoutSeconds':{}}}}}"));
}

TEST(TrackCreate, NothingGivenIsNobody) {
  Value object = ObjectOf("{'metadata':{'name':'a'},'status':{'loadBalancer':{'ingress':[{}]}}}");
  TrackUpdate(By("one"), codec::Object(), object);
  EXPECT_THAT(Owners(object), IsEmpty());
  EXPECT_EQ(codec::FindAt(object, "metadata", "managedFields"), nullptr);
}

TEST(TrackCreate, ANamelessManagerIsUnknown) {
  Value object = ObjectOf("{'spec':{'type':'NodePort'}}");
  TrackUpdate(By(""), codec::Object(), object);
  EXPECT_THAT(Owners(object), ElementsAre("Update unknown v1 @0 {'f:spec':{'f:type':{}}}"));
}

TEST(TrackCreate, ManagedFieldsThatAreGivenStayWhereNothingIsTaken) {
  Value object = ObjectOf(
      "{'metadata':{'managedFields':[{'manager':'old','operation':'Apply','apiVersion':'v1',"
      "'fieldsType':'FieldsV1','fieldsV1':{'f:spec':{'f:type':{},'f:clusterIP':{}}}}]},"
      "'spec':{'type':'NodePort'}}");
  TrackUpdate(By("one"), codec::Object(), object);
  EXPECT_THAT(Owners(object), ElementsAre("Apply old v1 {'f:spec':{'f:clusterIP':{}}}",
                                          "Update one v1 @0 {'f:spec':{'f:type':{}}}"));
  // A list that asks for a reset counts as no list here.
  for (const char* reset : {"[]", "[{}]"}) {
    object =
        ObjectOf(fmt::format("{{'metadata':{{'managedFields':{}}},'spec':{{'type':'T'}}}}", reset));
    TrackUpdate(By("one"), codec::Object(), object);
    EXPECT_THAT(Owners(object), ElementsAre("Update one v1 @0 {'f:spec':{'f:type':{}}}"));
  }
}

TEST(TrackUpdate, TakesWhatItChangesAndNothingElse) {
  Value live = Created("{'metadata':{'labels':{'a':'1','b':'1'}},'spec':{'type':'NodePort'}}");
  live = Updated(live, By("two", 5),
                 "{'metadata':{'labels':{'a':'1','b':'2','c':'3'}},'spec':{'type':'NodePort'}}");
  EXPECT_THAT(Owners(live),
              ElementsAre("Update one v1 @0 {'f:metadata':{'f:labels':{'.':{},'f:a':{}}},'f:spec':{"
                          "'f:type':{}}}",
                          "Update two v1 @5 {'f:metadata':{'f:labels':{'f:b':{},'f:c':{}}}}"));
  // Deleted fields have no owner. A manager without fields is dropped. A time
  // changes only with the fields.
  live =
      Updated(live, By("three", 9), "{'metadata':{'labels':{'a':'1'}},'spec':{'type':'NodePort'}}");
  EXPECT_THAT(Owners(live), ElementsAre("Update one v1 @0 {'f:metadata':{'f:labels':{'.':{},'f:a':"
                                        "{}}},'f:spec':{'f:type':{}}}"));
  live =
      Updated(live, By("one", 11), "{'metadata':{'labels':{'a':'2'}},'spec':{'type':'NodePort'}}");
  EXPECT_THAT(Owners(live), ElementsAre("Update one v1 @11 {'f:metadata':{'f:labels':{'.':{},'f:a':"
                                        "{}}},'f:spec':{'f:type':{}}}"));
}

TEST(TrackUpdate, FieldsThatJsonAlwaysHasChangeButDoNotGo) {
  Value live = Created("{'spec':{'ports':[{'port':80,'targetPort':8080}]}}");
  live = Updated(live, By("two", 1), "{'spec':{'ports':[{'port':80}]}}");
  EXPECT_THAT(Owners(live),
              ElementsAre("Update one v1 @0 {'f:spec':{'f:ports':{'.':{},'k:{\\'port\\':80,"
                          "\\'protocol\\':\\'TCP\\'}':{'.':{},'f:port':{}}}}}",
                          "Update two v1 @1 {'f:spec':{'f:ports':{'k:{\\'port\\':80,\\'protocol\\':"
                          "\\'TCP\\'}':{'f:targetPort':{}}}}}"));
}

TEST(TrackUpdate, StatusIsOwnedThroughItsOwnDoor) {
  const std::string with_both =
      "{'metadata':{'labels':{'a':'1'}},'spec':{'type':'T2'},'status':{'loadBalancer':{'ingress':[{"
      "'ip':'1.2.3.4'}]},'conditions':[{'type':'T','status':'True'}]}}";
  const Value live = Created("{'spec':{'type':'T'}}");
  EXPECT_THAT(Owners(Updated(live, By("st", 1, "status"), with_both)),
              ElementsAre("Update one v1 @0 {'f:spec':{'f:type':{}}}",
                          "Update st v1/status @1 {'f:metadata':{'f:labels':{'.':{},'f:a':{}}},"
                          "'f:status':{'f:conditions':{'.':{},'k:{\\'type\\':\\'T\\'}':{'.':{},"
                          "'f:lastTransitionTime':{},'f:message':{},'f:reason':{},'f:status':{},"
                          "'f:type':{}}},'f:loadBalancer':{'f:ingress':{}}}}"));
  EXPECT_THAT(Owners(Updated(live, By("one", 1), with_both)),
              ElementsAre("Update one v1 @1 {'f:metadata':{'f:labels':{'.':{},'f:a':{}}},'f:spec':{"
                          "'f:type':{}}}"));
}

TEST(TrackUpdate, TheStatusOfAServiceCidrTakesNoMetadata) {
  const api::Kind& kind = api::kServiceCidrKind;
  Value live = ObjectOf("{'spec':{'cidrs':['10.0.0.0/8']}}", kind);
  TrackUpdate({.kind = kind, .manager = "one", .now = At(0)}, codec::Object(), live);
  Value status = ObjectOf(
      "{'metadata':{'labels':{'a':'b'}},'spec':{},'status':{'conditions':[{'type':'T'}]}}", kind);
  TrackUpdate({.kind = kind, .subresource = "status", .manager = "st", .now = At(1)}, live, status);
  EXPECT_THAT(Owners(status),
              ElementsAre("Update one networking.k8s.io/v1 @0 {'f:spec':{'f:cidrs':{}}}",
                          "Update st networking.k8s.io/v1/status @1 {'f:status':{'f:conditions':{"
                          "'.':{},'k:{\\'type\\':\\'T\\'}':{'.':{},'f:lastTransitionTime':{},"
                          "'f:message':{},'f:reason':{},'f:status':{},'f:type':{}}}}}"));
}

TEST(TrackUpdate, WhoIsNotTrackedStaysSo) {
  Value live = ObjectOf("{'metadata':{'uid':'u'},'spec':{'type':'A'}}");
  EXPECT_THAT(Owners(Updated(live, By("one"), "{'spec':{'type':'B'}}")), IsEmpty());
  live = Created("{'spec':{'type':'A'}}");
  for (const char* reset : {"[]", "[{}]"}) {
    const Value object =
        Updated(live, By("one"),
                fmt::format("{{'metadata':{{'managedFields':{}}},'spec':{{'type':'B'}}}}", reset));
    EXPECT_EQ(codec::FindAt(object, "metadata", "managedFields"), nullptr);
  }
}

TEST(TrackUpdate, ManagedFieldsCanBeGivenButNotMadeNonsense) {
  const Value live = Created("{'spec':{'type':'A'}}");
  const std::string text =
      "{{'metadata':{{'managedFields':[{{'manager':'me','operation':'{}','apiVersion':'v1','fields"
      "Type':'FieldsV1','fieldsV1':{}}}]}},'spec':{{'type':'A'}}}}";
  EXPECT_THAT(Owners(Updated(live, By("x", 3),
                             fmt::format(fmt::runtime(text), "Apply", "{'f:spec':{'f:type':{}}}"))),
              ElementsAre("Apply me v1 {'f:spec':{'f:type':{}}}"));
  const auto unchanged = ElementsAre("Update one v1 @0 {'f:spec':{'f:type':{}}}");
  EXPECT_THAT(
      Owners(Updated(live, By("x", 3), fmt::format(fmt::runtime(text), "Delete", "{'f:spec':{}}"))),
      unchanged);
  EXPECT_THAT(
      Owners(Updated(live, By("x", 3), fmt::format(fmt::runtime(text), "Apply", "{'spec':{}}"))),
      unchanged);
  // Not through a subresource.
  EXPECT_THAT(Owners(Updated(live, By("x", 3, "status"),
                             fmt::format(fmt::runtime(text), "Apply", "{'f:spec':{}}"))),
              unchanged);
}

TEST(TrackUpdate, FieldsOfAtomicOnesBecomeTheWhole) {
  Value live = Created("{'spec':{'selector':{'a':'b'},'type':'A'}}");
  const std::string text =
      "{'metadata':{'managedFields':[{'manager':'me','operation':'Apply','apiVersion':'v1','fields"
      "Type':'FieldsV1','fieldsV1':{'f:spec':{'f:selector':{'f:a':{}},'f:externalIPs':{'i:1':{}}}}}"
      "]},'spec':{'selector':{'a':'b'},'type':'B'}}";
  EXPECT_THAT(Owners(Updated(live, By("one", 1), text)),
              ElementsAre("Apply me v1 {'f:spec':{'f:externalIPs':{},'f:selector':{}}}",
                          "Update one v1 @1 {'f:spec':{'f:type':{}}}"));
}

TEST(TrackUpdate, VersionsThatDoNotExistAreForgottenOtherGroupsAreNot) {
  const api::Kind& kind = api::kEventKind;
  const std::string managers =
      "[{'manager':'a','operation':'Update','apiVersion':'v1beta9','fieldsType':'FieldsV1',"
      "'fieldsV1':{'f:type':{}}},{'manager':'b','operation':'Update','apiVersion':'events.k8s.io/"
      "v1'"
      ",'fieldsType':'FieldsV1','fieldsV1':{'f:note':{}}}]";
  const Value live = ObjectOf("{'metadata':{'managedFields':" + managers + "},'type':'x'}", kind);
  Value updated = ObjectOf("{'metadata':{},'type':'y'}", kind);
  TrackUpdate({.kind = kind, .manager = "c", .now = At(0)}, live, updated);
  EXPECT_THAT(Owners(updated), ElementsAre("Update b events.k8s.io/v1 {'f:note':{}}",
                                           "Update c v1 @0 {'f:type':{}}"));
}

TEST(TrackUpdate, EntriesThatAreThereTwiceAreOneValue) {
  Value live = Created("{'metadata':{'finalizers':['a','b']}}");
  live = Updated(live, By("two", 1), "{'metadata':{'finalizers':['a','b','b']}}");
  EXPECT_THAT(
      Owners(live),
      ElementsAre("Update one v1 @0 {'f:metadata':{'f:finalizers':{'.':{},'v:\\'a\\'':{}}}}",
                  "Update two v1 @1 {'f:metadata':{'f:finalizers':{'v:\\'b\\'':{}}}}"));
  live = Updated(live, By("three", 2), "{'metadata':{'finalizers':['a','b','b']}}");
  EXPECT_THAT(Owners(live), SizeIs(2));
  live = Updated(live, By("three", 2), "{'metadata':{'finalizers':['a','b']}}");
  EXPECT_THAT(
      Owners(live),
      ElementsAre("Update one v1 @0 {'f:metadata':{'f:finalizers':{'.':{},'v:\\'a\\'':{}}}}",
                  "Update three v1 @2 {'f:metadata':{'f:finalizers':{'v:\\'b\\'':{}}}}"));
}

TEST(TrackUpdate, TheOldestBecomeOne) {
  Value live = Created("{'metadata':{'labels':{'l0':'x'}}}");
  std::string labels = "'l0':'x'";
  for (int i = 1; i <= 11; ++i) {
    labels += fmt::format(",'l{}':'x'", i);
    live = Updated(live, By(fmt::format("m{}", i), i), "{'metadata':{'labels':{" + labels + "}}}");
    EXPECT_THAT(Owners(live), SizeIs(std::min(i + 1, 10)));
  }
  const std::vector<std::string> owners = Owners(live);
  EXPECT_EQ(owners.front(),
            "Update ancient-changes v1 @2 {'f:metadata':{'f:labels':{'.':{},'f:l0':{},'f:l1':{},"
            "'f:l2':{}}}}");
  EXPECT_EQ(owners[1], "Update m3 v1 @3 {'f:metadata':{'f:labels':{'f:l3':{}}}}");
  EXPECT_EQ(owners.back(), "Update m11 v1 @11 {'f:metadata':{'f:labels':{'f:l11':{}}}}");
}

// Managers of the same second are ordered by name. So a manager "a1…" sorts before
// `ancient-changes`, is the oldest, and is not merged.
TEST(TrackUpdate, WhatTheOldestHaveBecomeTakesTheNextOldest) {
  Value live = Created("{'metadata':{'labels':{'l0':'x'}}}");
  std::string labels = "'l0':'x'";
  for (int i = 1; i <= 12; ++i) {
    labels += fmt::format(",'l{}':'x'", i);
    live =
        Updated(live, By(fmt::format("a{}", i + 10)), "{'metadata':{'labels':{" + labels + "}}}");
  }
  const std::vector<std::string> owners = Owners(live);
  ASSERT_THAT(owners, SizeIs(10));
  EXPECT_EQ(owners[0], "Update a13 v1 @0 {'f:metadata':{'f:labels':{'f:l3':{}}}}");
  EXPECT_EQ(owners[1], "Update a16 v1 @0 {'f:metadata':{'f:labels':{'f:l6':{}}}}");
  EXPECT_THAT(owners[8], testing::StartsWith("Update ancient-changes v1 @0"));
}

// There are many managers and many changes, and thousands of managers are more than ten.
TEST(TrackUpdate, ThousandsOfManagersAreNoBurden) {
  Value live = ObjectOf("{'metadata':{'uid':'u'}}");
  codec::Array entries;
  for (int i = 0; i < 6000; ++i) {
    const std::string label = fmt::format("l{}", i);
    codec::SetAt(live, {"metadata", "labels", label}, "x");
    entries.push_back(Json(fmt::format(
        "{{'manager':'m{}','operation':'{}','apiVersion':'v1','fieldsType':'FieldsV1','fieldsV1':"
        "'{{}}'}}",
        i, i % 2 == 0 ? "Apply" : "Update")));
    entries.back().Set("fieldsV1", "{\"f:metadata\":{\"f:labels\":{\"f:" + label + "\":{}}}}");
  }
  codec::SetAt(live, {"metadata", "managedFields"}, entries);
  Value updated = live;
  codec::SetAt(updated, {"metadata", "labels", "l1"}, "y");
  TrackUpdate(By("one", 1), live, updated);
  EXPECT_THAT(Owners(updated), SizeIs(3000 + 10));
  for (int i = 0; i < 6000; ++i) {
    codec::SetAt(updated, {"metadata", "labels", fmt::format("l{}", i)}, "z");
  }
  TrackUpdate(By("one", 1), live, updated);
  EXPECT_THAT(Owners(updated), SizeIs(1));
}

TEST(TrackUpdate, EntriesAreInOrder) {
  Managers managers;
  const auto add = [&](Manager manager) { managers[ManagerId(manager)] = std::move(manager); };
  const FieldSet fields = FieldSet::Of({{PathElement::Field("x")}});
  add({.name = "b", .api_version = "v1", .time = "2026-01-01T00:00:02Z", .fields = fields});
  add({.name = "a", .api_version = "v1", .time = "2026-01-01T00:00:02Z", .fields = fields});
  add({.name = "c", .api_version = "v1", .time = "2026-01-01T00:00:01Z", .fields = fields});
  add({.name = "z",
       .applies = true,
       .api_version = "v1",
       .time = "2027-01-01T00:00:01Z",
       .fields = fields});
  add({.name = "n", .api_version = "v1", .fields = fields});
  std::vector<std::string> names;
  for (const Value& entry : WriteManagers(managers)) {
    names.emplace_back(codec::StringAt(entry, "manager"));
  }
  EXPECT_THAT(names, ElementsAre("z", "n", "c", "a", "b"));
}

TEST(KeepTimes, OnlyWhenNothingElseDiffers) {
  const std::string text =
      "{{'metadata':{{'name':'a','resourceVersion':'{}','managedFields':[{{'manager':'m','"
      "operation'"
      ":'{}','time':'{}'}}]}},'spec':{{'type':'{}'}}}}";
  const auto object = [&](const char* version, const char* operation, const char* time,
                          const char* type) {
    return ObjectOf(fmt::format(fmt::runtime(text), version, operation, time, type));
  };
  const Value old = object("5", "Apply", "2026-01-01T00:00:01Z", "A");
  const auto kept = [&](Value updated) {
    KeepTimesOfNoChange(old, updated);
    return codec::StringAt(codec::ArrayAt(updated, "metadata", "managedFields").front(), "time") ==
           "2026-01-01T00:00:01Z";
  };
  EXPECT_TRUE(kept(object("5", "Apply", "2026-01-01T00:00:09Z", "A")));
  EXPECT_TRUE(kept(object("", "Apply", "2026-01-01T00:00:09Z", "A")));
  EXPECT_FALSE(kept(object("5", "Apply", "2026-01-01T00:00:09Z", "B")));
  EXPECT_FALSE(kept(object("5", "Update", "2026-01-01T00:00:09Z", "A")));
}

TEST(ManagerOfUserAgent, IsWhatIsBeforeTheSlash) {
  EXPECT_EQ(ManagerOfUserAgent("kubectl/v1.32.4 (linux/amd64)"), "kubectl");
  EXPECT_EQ(ManagerOfUserAgent("curl"), "curl");
  EXPECT_EQ(ManagerOfUserAgent("/x"), "");
  EXPECT_EQ(ManagerOfUserAgent("a\tb\x7f c/d"), "ab c");
  EXPECT_EQ(ManagerOfUserAgent(std::string(200, 'x') + "/1"), std::string(128, 'x'));
  EXPECT_EQ(ManagerOfUserAgent(std::string(127, 'x') + "é/1"), std::string(127, 'x'));
}

}  // namespace
}  // namespace berth::merge
