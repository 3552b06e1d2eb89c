#include "rules/event_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "codec/protobuf.h"
#include "codec/read.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns a valid Event of the new form, in namespace n.
codec::Value NewForm(const std::string& more = "") {
  return Json(
      "{'metadata':{'name':'e','namespace':'n','resourceVersion':'1'},"
      "'involvedObject':{'kind':'Service','namespace':'n','name':'web'},'reason':'R',"
      "'message':'m','type':'Normal','eventTime':'2024-01-01T00:00:00.000000Z',"
      "'action':'A','reportingComponent':'c.io/x','reportingInstance':'i'" +
      (more.empty() ? "" : "," + more) + "}");
}

codec::Value Changed(codec::Value event, const std::string& key, codec::Value value) {
  event.Set(key, std::move(value));
  return event;
}

std::vector<std::string> Create(const codec::Value& event, EventApi api) {
  return Lines(ValidateEventCreate(event, api));
}

TEST(Event, ViewsHoldTheSame) {
  const codec::Value core = Json(
      "{'kind':'Event','metadata':{'name':'e'},'involvedObject':{'name':'w'},'reason':'R','message'"
      ":"
      "'m','source':{'component':'c'},'firstTimestamp':'t1','lastTimestamp':'t2','count':2,'type':"
      "'Normal','eventTime':'t3','series':{'count':3},'action':'A','related':{'name':'r'},"
      "'reportingComponent':'rc','reportingInstance':'ri'}");
  const codec::Value view = EventToNew(core);
  EXPECT_EQ(codec::WriteJson(view),
            R"({"kind":"Event","metadata":{"name":"e"},"eventTime":"t3","series":{"count":3},)"
            R"("reportingController":"rc","reportingInstance":"ri","action":"A","reason":"R",)"
            R"("regarding":{"name":"w"},"related":{"name":"r"},"note":"m","type":"Normal",)"
            R"("deprecatedSource":{"component":"c"},"deprecatedFirstTimestamp":"t1",)"
            R"("deprecatedLastTimestamp":"t2","deprecatedCount":2})");
  EXPECT_EQ(codec::WriteJson(EventToCore(view)), codec::WriteJson(core));
}

TEST(Event, ViewsKeepUnknownFields) {
  codec::Value core = Json("{'metadata':{'name':'e'},'series':{'count':3}}");
  core.Set(std::string(codec::kUnknownFields), "own");
  core.Find("series")->Set(std::string(codec::kUnknownFields), "of the series");
  const codec::Value view = EventToNew(core);
  EXPECT_EQ(codec::StringAt(view, codec::kUnknownFields), "own");
  EXPECT_EQ(EventToCore(view), core);
}

TEST(Event, OldFormOnlyAgreesWithItsNamespace) {
  const std::string mismatch = ": does not match event.namespace";
  const auto event = [](const std::string& own, const std::string& of_object) {
    return Json("{'metadata':{'name':'Bad_Name','namespace':'" + own +
                "'},'involvedObject':{'namespace':'" + of_object + "'}}");
  };
  EXPECT_THAT(Create(event("n", "n"), EventApi::kCore), IsEmpty());
  EXPECT_THAT(Create(event("default", ""), EventApi::kCore), IsEmpty());
  EXPECT_THAT(Create(event("n", "elsewhere"), EventApi::kCore),
              ElementsAre("involvedObject.namespace: Invalid value: \"elsewhere\"" + mismatch));
  EXPECT_THAT(Create(event("n", ""), EventApi::kCore),
              ElementsAre("involvedObject.namespace: Invalid value: \"\"" + mismatch));
  EXPECT_THAT(Create(event("kube-system", ""), EventApi::kCore),
              ElementsAre("involvedObject.namespace: Invalid value: \"\"" + mismatch));
}

TEST(Event, NewFormSaysWhoReportsWhat) {
  EXPECT_THAT(Create(NewForm(), EventApi::kCore), IsEmpty());
  const codec::Value bare = Json("{'metadata':{'name':'e','namespace':'n'},'eventTime':'t'}");
  EXPECT_THAT(Create(bare, EventApi::kCore),
              ElementsAre("involvedObject.namespace: Invalid value: \"\": does not match "
                          "event.namespace",
                          "reportingComponent: Required value",
                          "reportingComponent: Invalid value: \"\": name part must be non-empty",
                          HasSubstr("reportingComponent: Invalid value: \"\": name part must"),
                          "reportingInstance: Required value", "action: Required value",
                          "reason: Required value"));
  EXPECT_THAT(Create(bare, EventApi::kEvents),
              testing::Contains("reportingController: Required value"));
  EXPECT_THAT(Create(Json("{'metadata':{'namespace':'kube-system'},'eventTime':'t','reason':'r',"
                          "'action':'a','reportingComponent':'c','reportingInstance':'i'}"),
                     EventApi::kCore),
              IsEmpty());
}

TEST(Event, TextsAreBounded) {
  for (const char* field : {"reportingInstance", "action", "reason"}) {
    EXPECT_THAT(Create(Changed(NewForm(), field, std::string(128, 'x')), EventApi::kCore),
                IsEmpty());
    EXPECT_THAT(
        Create(Changed(NewForm(), field, std::string(129, 'x')), EventApi::kCore),
        ElementsAre(std::string(field) + ": Invalid value: \"\": can have at most 128 characters"));
  }
  EXPECT_THAT(Create(Changed(NewForm(), "message", std::string(1025, 'x')), EventApi::kCore),
              ElementsAre("message: Invalid value: \"\": can have at most 1024 characters"));
}

TEST(Event, TheNewApiIsStrict) {
  EXPECT_THAT(Create(NewForm(), EventApi::kEvents), IsEmpty());
  const codec::Value old_form = Json(
      "{'metadata':{'name':'Bad_Name','namespace':'n'},'involvedObject':{'namespace':'n'},"
      "'type':'Odd','firstTimestamp':'t','lastTimestamp':'t','count':1,'source':{'host':'h'},"
      "'series':{'count':1}}");
  EXPECT_THAT(Create(old_form, EventApi::kCore), IsEmpty());
  EXPECT_THAT(
      Create(old_form, EventApi::kEvents),
      ElementsAre(HasSubstr("metadata.name: Invalid value: \"Bad_Name\": a lowercase RFC 1123 sub"),
                  "series.count: Invalid value: \"\": should be at least 2",
                  "series.lastObservedTime: Required value", "eventTime: Required value",
                  "type: Invalid value: \"\": has invalid value: Odd",
                  "firstTimestamp: Invalid value: \"\": needs to be unset",
                  "lastTimestamp: Invalid value: \"\": needs to be unset",
                  "count: Invalid value: \"\": needs to be unset",
                  "source: Invalid value: \"\": needs to be unset"));
}

TEST(Event, TheNewApiUpdatesOnlySeries) {
  const codec::Value old = NewForm();
  const codec::Value series = NewForm("'series':{'count':2,'lastObservedTime':'t'}");
  EXPECT_THAT(Lines(ValidateEventUpdate(series, old, EventApi::kEvents)), IsEmpty());
  EXPECT_THAT(Lines(ValidateEventUpdate(NewForm("'series':{'count':1}"), old, EventApi::kEvents)),
              testing::SizeIs(2));
  const codec::Value other = Changed(old, "message", "other");
  EXPECT_THAT(Lines(ValidateEventUpdate(other, old, EventApi::kCore)), IsEmpty());
  EXPECT_THAT(Lines(ValidateEventUpdate(other, old, EventApi::kEvents)),
              ElementsAre("message: Invalid value: \"other\": field is immutable"));
  EXPECT_THAT(
      Lines(ValidateEventUpdate(Changed(old, "reportingComponent", "d"), old, EventApi::kEvents)),
      ElementsAre("reportingController: Invalid value: \"d\": field is immutable"));
  EXPECT_THAT(Lines(ValidateEventUpdate(Changed(old, "reason", "S"), old, EventApi::kEvents)),
              testing::SizeIs(2));
}

}  // namespace
}  // namespace berth::rules
