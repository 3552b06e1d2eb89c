#include "inspect/filter.h"

#include <gtest/gtest.h>

#include <string>

#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

Service ShopWeb() {
  Service service;
  service.object = {.resource = "services", .name_space = "shop", .name = "web"};
  service.type = "NodePort";
  service.labels = "app=web,app.kubernetes.io/name=shop,tier=front";
  return service;
}

bool FindsWeb(std::string_view text) { return Filter::Read(text).value().Matches(ShopWeb()); }
bool FindsValue(std::string_view text, std::string_view value) {
  return Filter::Read(text).value().MatchesValue(ValueOf(value));
}

TEST(FilterTest, ATextIsAPartOfAName) {
  for (const char* text : {"web", "we", "eb", "shop", "ho", "shop/web", "shop/w", "op/we", "shop/",
                           "/web", " web ", "WEB", "tier", "app.kubernetes.io/name"}) {
    EXPECT_TRUE(FindsWeb(text)) << text;
  }
  for (const char* text : {"webs", "shop/eb", "hop/web2", "front", "app.", "10.0.0.1", ""}) {
    EXPECT_FALSE(FindsWeb(text)) << text;
  }
}

TEST(FilterTest, AWordBeforeItMeansExactlyThat) {
  for (const char* text : {"service:shop/web", "namespace:shop", "label:app=web", "label:tier",
                           "app=web", "type:NodePort", "type:nodeport"}) {
    EXPECT_TRUE(FindsWeb(text)) << text;
  }
  for (const char* text : {"service:shop/we", "service:web", "namespace:sho", "label:app=we",
                           "label:ap", "label:", "app=", "=web", "web=app", "type:ClusterIP"}) {
    EXPECT_FALSE(FindsWeb(text)) << text;
  }
}

TEST(FilterTest, ValuesAreReadInAllForms) {
  EXPECT_TRUE(FindsValue("10.0.0.7", "10.0.0.7"));
  EXPECT_TRUE(FindsValue("10.0.0.7:443", "10.0.0.7"));
  EXPECT_FALSE(FindsValue("10.0.0.7", "10.0.0.70"));
  EXPECT_TRUE(FindsValue("30080", "30080"));
  EXPECT_TRUE(FindsValue("30000-30100", "30080"));
  EXPECT_FALSE(FindsValue("30000-30100", "30101"));
  EXPECT_TRUE(FindsValue("10.0.0.0/24", "10.0.0.7"));
  EXPECT_TRUE(FindsValue("10.0.0.9/24", "10.0.0.7")) << "The CIDR that has it is meant";
  EXPECT_TRUE(FindsValue("fd00::/64", "fd00::7"));
  EXPECT_TRUE(FindsValue("10.0.", "10.0.200.7"));
  EXPECT_TRUE(FindsValue("10.0", "10.0.200.7"));
  EXPECT_FALSE(FindsValue("10.1.", "10.0.200.7"));
  EXPECT_FALSE(FindsValue("300.", "10.0.200.7"));
}

TEST(FilterTest, TheNumberOfAPortIsAPartOfANameToo) {
  Service service = ShopWeb();
  service.object.name = "web-8080";
  EXPECT_TRUE(Filter::Read("8080").value().Matches(service));
  EXPECT_TRUE(FindsValue("8080", "8080"));
}

TEST(FilterTest, ARecordIsFoundByItsService) {
  Record record;
  record.facts.state = rules::RecordState::kReserved;
  record.facts.reserved_for = "shop/later";
  EXPECT_TRUE(Filter::Read("later").value().Matches(record));
  EXPECT_TRUE(Filter::Read("namespace:shop").value().Matches(record));
  EXPECT_FALSE(Filter::Read("app=web").value().Matches(record));
  record.facts.state = rules::RecordState::kFree;
  EXPECT_FALSE(Filter::Read("later").value().Matches(record)) << "It belongs to nobody now";
}

TEST(FilterTest, TextsAreBounded) {
  EXPECT_TRUE(Filter::Read(std::string(256, 'a')).has_value());
  EXPECT_FALSE(Filter::Read(std::string(257, 'a')).has_value());
  EXPECT_TRUE(Filter::Read("  ").value().empty());
  EXPECT_FALSE(Filter().Matches(ShopWeb()));
}

TEST(FilterTest, ServicesKeepTheirLabels) {
  ClusterReader reader({});
  codec::Value service = codec::ParseJson(R"({"metadata": {"name": "web", "namespace": "shop",
      "labels": {"tier": "front", "app": "web", "empty": "", "bad,": "x", "worse": "a,b",
                 "number": 7}}})")
                             .value();
  reader.AddService(service);
  EXPECT_EQ(reader.view().services.front().labels, "app=web,empty=,tier=front");
  codec::SetAt(service, {"metadata", "labels"}, codec::Object{{"big", std::string(5000, 'x')}});
  reader.AddService(service);
  EXPECT_EQ(reader.view().services.back().labels, "");
  EXPECT_TRUE(HasLabel("app=web,empty=,tier=front", "empty", ""));
  EXPECT_FALSE(HasLabel("app=web,empty=,tier=front", "emp", std::nullopt));
}

}  // namespace
}  // namespace berth::inspect
