#include "inspect/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "inspect/range_shape.h"
#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using rules::RecordState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Cluster ShopForSearch() {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Range("30000-32767")
      .IpRange(R"({"range": "10.1.0.0/24"})")
      .Add({.name_space = "shop", .name = "web", .values = {"10.0.0.9", "30080"}})
      .Add({.name_space = "shop", .name = "web-admin", .values = {"10.0.0.10"}})
      .Add({.name_space = "shop", .name = "my-web", .values = {"10.0.0.11"}})
      .Add({.name_space = "web", .name = "cart", .values = {"10.9.0.1"}})
      .Record("10.0.0.77", RecordState::kReserved, "shop/later");
  small.view().services[0].labels = "app=web,tier=front";
  small.view().services[1].labels = "app=admin";
  return small.Finish();
}

/// Returns "service shop/web" for each hit.
std::vector<std::string> Titles(std::string_view text) {
  const Cluster cluster = ShopForSearch();
  const Census census(cluster);
  const SearchAnswer found = Search(census, Filter::Read(text).value());
  std::vector<std::string> out;
  for (const Hit& hit : found.hits) {
    out.push_back(fmt::format("{} {}", NameOf(hit.kind), hit.title));
  }
  return out;
}

std::string FirstText(std::string_view text) {
  const Cluster cluster = ShopForSearch();
  const Census census(cluster);
  const SearchAnswer found = Search(census, Filter::Read(text).value());
  return found.hits.empty() ? "" : found.hits.front().text;
}

TEST(SearchTest, TheBestComesFirst) {
  EXPECT_THAT(Titles("web"), ElementsAre("service shop/web", "namespace web",
                                         "service shop/web-admin", "service shop/my-web"));
  EXPECT_THAT(Titles("shop/web"), ElementsAre("service shop/web", "service shop/web-admin"));
  EXPECT_THAT(Titles("shop"), ElementsAre("namespace shop"));
  EXPECT_THAT(Titles("own"), ElementsAre("range own 10.1.0.0/24"));
  EXPECT_THAT(Titles("nothing-of-it"), IsEmpty());
  EXPECT_THAT(Titles(""), IsEmpty());
}

TEST(SearchTest, ValuesSayWhoHasThem) {
  EXPECT_THAT(Titles("10.0.0.9"), ElementsAre("value 10.0.0.9"));
  EXPECT_EQ(FirstText("10.0.0.9"), "taken by shop/web, in 10.0.0.0/24");
  EXPECT_EQ(FirstText("30080"), "taken by shop/web, in 30000-32767");
  EXPECT_EQ(FirstText("10.0.0.77"), "reserved for shop/later, in 10.0.0.0/24");
  EXPECT_EQ(FirstText("10.0.0.78"), "free, in 10.0.0.0/24");
  EXPECT_EQ(FirstText("10.9.0.1"), "taken by web/cart, in no range");
}

TEST(SearchTest, PartsOfRangesAndRangesAreFound) {
  EXPECT_THAT(Titles("10.0.0.0/24"), ElementsAre("range 10.0.0.0/24"));
  EXPECT_THAT(Titles("10.0.0.8/29"), ElementsAre("part 10.0.0.8/29"));
  EXPECT_EQ(FirstText("10.0.0.8/29"), "a part of 10.0.0.0/24; 3 values are in use");
  EXPECT_THAT(Titles("30000-30100"), ElementsAre("part 30000-30100"));
  EXPECT_THAT(Titles("192.168.0.0/16"), IsEmpty());
}

TEST(SearchTest, LabelsAreFoundByKeyAndByValue) {
  EXPECT_THAT(Titles("app"), ElementsAre("label app", "label app=admin", "label app=web"));
  EXPECT_THAT(Titles("app=web"), ElementsAre("label app=web"));
  EXPECT_EQ(FirstText("app=web"), "a label of 1 Service");
  EXPECT_THAT(Titles("app=we"), IsEmpty());
}

TEST(SearchTest, WhatAHitSaysFindsTheSame) {
  const Cluster cluster = ShopForSearch();
  const Census census(cluster);
  const SearchAnswer found = Search(census, Filter::Read("web").value());
  const Filter exact = Filter::Read(found.hits.front().find).value();
  EXPECT_TRUE(exact.Matches(cluster.services[1]));  // After shop/my-web.
  EXPECT_FALSE(exact.Matches(cluster.services[2])) << "shop/web-admin only begins like it";
  EXPECT_EQ(KeyOf(*found.hits.front().range), "ServiceCIDR/10.0.0.0/24/IPv4");
}

TEST(SearchTest, ManyHitsAreCounted) {
  SmallCluster small;
  small.Range("10.96.0.0/24").Row(1, 200);
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const SearchAnswer found = Search(census, Filter::Read("s1").value());
  EXPECT_EQ(found.hits.size(), kMostHits);
  EXPECT_EQ(found.more, 150U);
}

}  // namespace
}  // namespace berth::inspect
