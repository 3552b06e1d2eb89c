#include "rules/field_selector.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rules/selector.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

TEST(FieldSelector, Errors) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"Service", "metadata.name",
       "invalid selector: 'metadata.name'; can't understand "
       "'metadata.name'"},
      {"Service", "metadata.name=a,b",
       "invalid selector: 'metadata.name=a,b'; can't understand "
       "'b'"},
      {"Service", "metadata.name in (a)",
       "invalid selector: 'metadata.name in (a)'; can't "
       "understand 'metadata.name in (a)'"},
      {"Service", "spec.externalName=x", "field label not supported: spec.externalName"},
      {"Service", "status.phase=x", "field label not supported: status.phase"},
      {"Namespace", "spec.x=1", "field label not supported: spec.x"},
      {"Namespace", "metadata.namespace=1", "field label not supported: metadata.namespace"},
      {"Event", "bogus=1", "field label not supported: bogus"},
      {"Event", "regarding.name=1", "field label not supported: regarding.name"},
      {"Event.events.k8s.io", "involvedObject.name=1",
       "field label not supported: involvedObject.name"},
      {"Lease.coordination.k8s.io", "spec.x=1",
       "\"spec.x\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\""},
      {"Service", "metadata.name=a=b", "invalid field selector: unescaped character in value: 61"},
      {"Service", R"(metadata.name=a\b)", R"(invalid field selector: invalid escape sequence: \b)"},
      {"Service", R"(metadata.name=a\)", R"(invalid field selector: invalid escape sequence: \)"},
      {"Service", "metadata.name=a\\\xc3\xa9",
       "invalid field selector: invalid escape sequence: \\\xc3\xa9"},
  };
  for (const auto& [kind, text, message] : cases) {
    const auto selector = FieldSelector::Parse(text, kind);
    ASSERT_FALSE(selector.has_value()) << text;
    EXPECT_EQ(selector.error().message, message) << text;
    EXPECT_EQ(selector.error().reason, base::Reason::kBadRequest);
  }
  EXPECT_FALSE(FieldSelector::Parse(std::string(kMaxSelectorBytes + 1, ','), "Service"));
}

bool Matches(const std::string& kind, const std::string& text, const codec::Value& object) {
  const auto selector = FieldSelector::Parse(text, kind);
  EXPECT_TRUE(selector.has_value()) << text;
  return selector.has_value() && selector->Matches(object);
}

TEST(FieldSelector, Services) {
  const codec::Value service = Json(
      "{'metadata':{'name':'a1','namespace':'n'},'spec':{'type':'NodePort','clusterIP':'None'}}");
  for (const char* text : {"", ",", "metadata.name=a1", "metadata.name==a1", "metadata.name!=b",
                           "metadata.namespace=n,spec.type=NodePort", "spec.clusterIP=None"}) {
    EXPECT_TRUE(Matches("Service", text, service)) << text;
  }
  for (const char* text : {"metadata.name!=a1", "spec.type=ClusterIP",
                           "spec.clusterIP=", "metadata.name=a1,spec.type!=NodePort"}) {
    EXPECT_FALSE(Matches("Service", text, service)) << text;
  }
  EXPECT_TRUE(Matches("Service", "spec.clusterIP=", Json("{'spec':{'type':'ExternalName'}}")));
}

TEST(FieldSelector, OtherKinds) {
  EXPECT_TRUE(Matches("Namespace", "status.phase=Active", Json("{'status':{'phase':'Active'}}")));
  EXPECT_TRUE(
      Matches("Lease.coordination.k8s.io", "metadata.name=l", Json("{'metadata':{'name':'l'}}")));
}

TEST(FieldSelector, BothViewsOfEventsSelectTheStoredForm) {
  const codec::Value event = Json(
      "{'involvedObject':{'kind':'Service','name':'web','uid':'u'},"
      "'reason':'R','reportingComponent':'c','type':'Normal'}");
  EXPECT_TRUE(
      Matches("Event", "involvedObject.name=web,involvedObject.kind=Service,reason=R", event));
  EXPECT_TRUE(Matches("Event", "source=c,reportingComponent=c", event));
  EXPECT_TRUE(Matches("Event.events.k8s.io", "regarding.uid=u,reportingController=c", event));
  EXPECT_FALSE(Matches("Event.events.k8s.io", "regarding.name=x", event));
  EXPECT_TRUE(Matches("Event", "source=berth", Json("{'source':{'component':'berth'}}")));
}

TEST(FieldSelector, RequiredValue) {
  const auto selector = FieldSelector::Parse("spec.type!=x,metadata.name=a", "Service");
  ASSERT_TRUE(selector.has_value());
  EXPECT_EQ(selector->RequiredValue("metadata.name"), "a");
  EXPECT_EQ(selector->RequiredValue("spec.type"), std::nullopt);
  EXPECT_EQ(selector->ToString(), "metadata.name=a,spec.type!=x");
}

TEST(FieldSelector, AddressesOfBerthAreFoundByNumberAndByText) {
  constexpr std::string_view kKind = "IPAddress.allocation.berth.io";
  const codec::Value stored = Json("{'metadata':{'name':'10.96.0.10'}}");
  const auto matches = [&](std::string_view text) {
    const auto selector = FieldSelector::Parse(text, kKind);
    EXPECT_TRUE(selector.has_value()) << text;
    return selector && selector->Matches(stored);
  };
  EXPECT_TRUE(matches("metadata.name=174063626"));
  EXPECT_TRUE(matches("spec.address=10.96.0.10"));
  EXPECT_TRUE(matches("spec.address!=10.96.0.11"));
  EXPECT_TRUE(matches("metadata.name=174063626,spec.address=10.96.0.10"));
  EXPECT_FALSE(matches("spec.address=10.96.0.11"));
  EXPECT_FALSE(matches("spec.address!=10.96.0.10"));
  EXPECT_FALSE(matches("metadata.name=174063626,spec.address=10.96.0.11"));
  EXPECT_FALSE(matches("metadata.name=10.96.0.10")) << "the text is no name here";
  EXPECT_FALSE(matches("spec.address=174063626")) << "the number is no address";
  EXPECT_FALSE(matches("spec.address="));
  EXPECT_EQ(FieldSelector::Parse("metadata.name!=x,metadata.name=1", kKind)->ToString(),
            "metadata.name!=,metadata.name=0.0.0.1");
  EXPECT_EQ(FieldSelector::Parse("spec.address=10.96.0.10", kKind)->RequiredValue("metadata.name"),
            "10.96.0.10")
      << "so one key is read";
}

RC_GTEST_PROP(FieldSelector, ItsTextMeansTheSame, (const std::vector<std::string>& values)) {
  std::string text;
  for (const std::string& value : values) {
    text += text.empty() ? "" : ",";
    text += value.size() % 2 == 0 ? "metadata.name=" : "spec.type!=";
    for (const char c : value) {
      if (c == '\\' || c == ',' || c == '=') text += '\\';
      text += c;
    }
  }
  const auto selector = FieldSelector::Parse(text, "Service");
  RC_ASSERT(selector.has_value());
  RC_ASSERT(selector->requirements().size() == values.size());
  const auto again = FieldSelector::Parse(selector->ToString(), "Service");
  RC_ASSERT(again.has_value());
  RC_ASSERT(*again == *selector);
}

}  // namespace
}  // namespace berth::rules
