#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "berth/ui/scene.h"
#include "berth/ui/testing/api_types.h"
#include "codec/json.h"
#include "codec/read.h"
#include "inspect/testing/small_cluster.h"

namespace berth::cli {
namespace {

using codec::ArrayAt;
using codec::FindAt;
using codec::IntAt;
using codec::StringAt;
using codec::Value;
using inspect::Origin;
using inspect::SmallCluster;
using rules::RecordState;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr std::string_view kCreated = "2026-01-02T03:04:05Z";
constexpr const char* kShopRange = "IPRange/own/IPv4";
constexpr const char* kShopPorts = "NodePortRange/30000-32767/NodePort";

SmallCluster Shop() {
  SmallCluster small;
  small.IpRange(R"({"range": "10.0.0.0/24", "excluded": ["10.0.0.99"]})")
      .Range("10.0.0.128/25")
      .Range("30000-32767")
      .Add({.name_space = "shop",
            .name = "web",
            .values = {"10.0.0.9", "32768"},
            .origin = Origin::kNamed,
            .manager = "helm",
            .type = "NodePort",
            .created = std::string(kCreated)})
      .Add(
          {.name_space = "shop", .name = "cart", .values = {"10.0.0.77"}, .origin = Origin::kNamed})
      .Add({.name_space = "blog", .name = "copy", .values = {"10.0.0.9"}})
      .Record("10.0.0.7", RecordState::kReserved, "shop/later");
  small.view().services[0].labels = "app=web,tier=front";
  small.view().server = inspect::ServerKind::kBerth;
  return small;
}

inspect::UseHistory UseOfShop() {
  const base::WallTime now = SmallCluster::At("2026-11-18T12:00:00Z");
  return {{"10.0.0.0/24",
           {.range = {{.time = now - std::chrono::days(20), .values = 1},
                      {.time = now, .values = 3}}}}};
}

inspect::ValuePast PastOfAll(const alloc::PoolValue& /*value*/) {
  return {.spans = {{.from = {.latest = SmallCluster::At(kCreated)}, .owner = "shop/web"}},
          .begin = SmallCluster::At(kCreated),
          .end = SmallCluster::At("2026-11-18T12:00:00Z"),
          .gaps = 1};
}

class DocumentsTest : public testing::Test {
 protected:
  static const ApiTypes& Types() {
    static const ApiTypes types;
    return types;
  }
  static void ExpectType(const Value& document, std::string_view type) {
    EXPECT_THAT(Types().Problems(document, type), IsEmpty()) << codec::WriteJson(document);
  }

  const Scene scene_{Shop().Finish(),
                     {.seq = 7, .live = true, .use = UseOfShop(), .past = &PastOfAll}};
};

TEST_F(DocumentsTest, AllAreOfTheTypesThatThePageExpects) {
  ASSERT_FALSE(Types().empty());
  ExpectType(OverviewDocument(scene_, std::nullopt), "Overview");
  ExpectType(OverviewDocument(scene_, SceneTrouble{.message = "lost", .since = {}}), "Overview");
  for (const char* key : {kShopRange, kShopPorts}) {
    ExpectType(RangeDetailDocument(scene_, key).value(), "RangeDetail");
  }
  for (const char* bits : {"0", "2", "126"}) {
    ExpectType(TileDocument(scene_, {.key = kShopRange, .bits = bits, .index = "0", .find = "web"})
                   .value(),
               "Tile");
  }
  ExpectType(TableDocument(scene_, {.key = kShopRange}).value(), "Table");
  for (const char* value : {"10.0.0.9", "10.0.0.7", "10.0.0.8", "10.0.0.255", "192.0.2.1", "32768",
                            "30001", "fd00::1"}) {
    ExpectType(DetailsDocument(scene_, value, "").value(), "Details");
  }
  ExpectType(DetailsDocument(scene_, "", "shop/web").value(), "Details");
  for (const char* text : {"web", "10.0.0.9", "10.0.0.0/24", "10.0.0.8/30", "app", "own", ""}) {
    ExpectType(SearchDocument(scene_, text).value(), "Search");
  }
  for (const char* to : {"10.0.0.0/16", "10.0.0.0/29", "nonsense"}) {
    ExpectType(WhatIfDocument(scene_, kShopRange, {to}).value(), "WhatIf");
  }
  ExpectType(FindingsDocument(scene_), "Findings");
  ExpectType(ViewDocument(nullptr, scene_), "View");
  const Scene empty(SmallCluster().Finish(), {});
  ExpectType(OverviewDocument(empty, std::nullopt), "Overview");
  ExpectType(ViewDocument(&empty, scene_), "View");
}

TEST_F(DocumentsTest, TheOverviewShowsRangesAndWhatIsWrong) {
  const Value document = OverviewDocument(scene_, std::nullopt);
  EXPECT_EQ(IntAt(document, "seq"), 7);
  EXPECT_EQ(StringAt(document, "server"), "Berth");
  EXPECT_EQ(IntAt(document, "serviceCount"), 3);
  const codec::Array& ranges = ArrayAt(document, "ranges");
  ASSERT_EQ(ranges.size(), 3U);
  EXPECT_EQ(StringAt(ranges[0], "key"), kShopRange) << "It needs attention: a value is used twice";
  EXPECT_EQ(StringAt(ranges[0], "size"), "256");
  EXPECT_EQ(StringAt(ranges[0], "usable"), "253");
  EXPECT_EQ(StringAt(ranges[0], "taken"), "2");
  EXPECT_EQ(StringAt(ranges[0], "excluded"), "1");
  EXPECT_EQ(IntAt(ranges[0], "usedTwice"), 1);
  EXPECT_EQ(ArrayAt(ranges[0], "trend").size(), 2U);
  EXPECT_EQ(StringAt(document, "findingSeverity"), "critical");
  EXPECT_GE(IntAt(document, "findingCount"), 2);
  EXPECT_EQ(StringAt(ArrayAt(document, "attention")[0], "key"), kShopRange);
}

TEST_F(DocumentsTest, ARangeHasPartsByOffset) {
  const Value document = RangeDetailDocument(scene_, kShopRange).value();
  EXPECT_EQ(IntAt(document, "bits"), 8);
  EXPECT_EQ(StringAt(document, "staticPart", "from"), "1");
  EXPECT_EQ(StringAt(document, "staticPart", "last"), "10.0.0.16");
  EXPECT_EQ(StringAt(document, "dynamicPart", "to"), "254");
  const codec::Array& exclusions = ArrayAt(document, "exclusions");
  ASSERT_EQ(exclusions.size(), 3U);
  EXPECT_EQ(StringAt(exclusions[1], "first"), "10.0.0.99");
  const codec::Array& overlaps = ArrayAt(document, "overlaps");
  ASSERT_EQ(overlaps.size(), 1U);
  EXPECT_EQ(StringAt(overlaps[0], "from"), "128");
  EXPECT_EQ(StringAt(overlaps[0], "label"), "10.0.0.128/25");
  EXPECT_EQ(RangeDetailDocument(scene_, "IPRange/other/IPv4").error().reason,
            base::Reason::kNotFound);
}

TEST_F(DocumentsTest, ATileNamesWhatItsCellsReferTo) {
  const Value tile =
      TileDocument(scene_, {.key = kShopRange, .bits = "0", .index = "0", .find = "app=web"})
          .value();
  const codec::Array& cells = ArrayAt(tile, "cells");
  ASSERT_EQ(cells.size(), 3U);
  EXPECT_EQ(codec::WriteJson(cells[0]), R"([7,"reserved",1,1,0,0,0,-1,0,"shop/later",0])");
  EXPECT_EQ(codec::WriteJson(cells[1]), R"([9,"twice",1,1,0,0,1,0,0,"blog/copy",1])");
  EXPECT_EQ(codec::WriteJson(cells[2]), R"([77,"namedInDynamic",1,1,1,0,0,0,0,"shop/cart",0])");
  EXPECT_EQ(codec::WriteJson(*FindAt(tile, "namespaces")), R"(["shop","blog"])");
  EXPECT_EQ(codec::WriteJson(*FindAt(tile, "types")), R"(["ClusterIP"])");
}

TEST_F(DocumentsTest, BadParametersAreRefused) {
  const auto reason = [](const base::Result<Value>& result) {
    return result ? std::string("none") : std::string(base::ReasonText(result.error().reason));
  };
  const auto tile = [&](const char* bits, const char* index, std::string find = "") {
    return reason(TileDocument(
        scene_, {.key = kShopRange, .bits = bits, .index = index, .find = std::move(find)}));
  };
  for (const char* bits :
       {"", "1", "128", "-2", "2.0", "0x2", "999999999999999999999999999999999999999999"}) {
    EXPECT_EQ(tile(bits, "0"), "Invalid") << bits;
  }
  for (const char* index : {"", "1", "-1", "a", "340282366920938463463374607431768211455",
                            "340282366920938463463374607431768211456"}) {
    EXPECT_EQ(tile("0", index), "Invalid") << index;
  }
  EXPECT_EQ(tile("0", "0", std::string(300, 'x')), "Invalid");
  EXPECT_EQ(tile("0", "0"), "none");
  EXPECT_EQ(reason(TileDocument(scene_, {.key = "", .bits = "0", .index = "0"})), "NotFound");
  for (const char* value : {"x", "30080", "fd00::1"}) {
    EXPECT_EQ(reason(TableDocument(scene_, {.key = kShopRange, .first = value})), "Invalid");
    EXPECT_EQ(reason(TableDocument(scene_, {.key = kShopRange, .last = value})), "Invalid");
    EXPECT_EQ(reason(TableDocument(scene_, {.key = kShopRange, .after = value})), "Invalid");
  }
  EXPECT_EQ(reason(TableDocument(scene_, {.key = kShopRange, .first = "192.0.2.1"})), "none");
  EXPECT_EQ(reason(DetailsDocument(scene_, "nonsense", "")), "Invalid");
  EXPECT_EQ(reason(DetailsDocument(scene_, "", "shop/none")), "NotFound");
  EXPECT_EQ(reason(DetailsDocument(scene_, "", "shop")), "NotFound");
  EXPECT_EQ(reason(SearchDocument(scene_, std::string(300, 'x'))), "Invalid");
}

TEST_F(DocumentsTest, ATableIsAPartOfARange) {
  const Value table =
      TableDocument(scene_, {.key = kShopRange, .first = "10.0.0.8", .last = "10.0.0.80"}).value();
  EXPECT_EQ(IntAt(table, "total"), 2);
  const Value& row = ArrayAt(table, "rows")[1];
  EXPECT_EQ(codec::WriteJson(row),
            R"({"value":"10.0.0.77","state":"taken","service":"shop/cart","type":"ClusterIP",)"
            R"("origin":"named","band":"dynamic","since":null,"mark":"namedInDynamic"})");
  const Value rest = TableDocument(scene_, {.key = kShopRange, .after = "10.0.0.9"}).value();
  EXPECT_EQ(ArrayAt(rest, "rows").size(), 1U);
  const Value found = TableDocument(scene_, {.key = kShopRange, .find = "later"}).value();
  EXPECT_EQ(StringAt(ArrayAt(found, "rows")[0], "state"), "reserved");
}

/// Returns "Label: text" for each fact.
std::vector<std::string> FactTexts(const Value& details) {
  std::vector<std::string> out;
  for (const Value& fact : ArrayAt(details, "facts")) {
    out.push_back(std::string(StringAt(fact, "label")) + ": " +
                  std::string(StringAt(fact, "text")));
  }
  return out;
}

std::string CommandTexts(const Value& document) {
  std::string out;
  for (const Value& each : ArrayAt(document, "commands")) {
    out += std::string(StringAt(each, "command")) + "\n";
  }
  return out;
}

TEST_F(DocumentsTest, DetailsSayWhatWhoisSays) {
  const Value taken = DetailsDocument(scene_, "10.0.0.77", "").value();
  EXPECT_THAT(FactTexts(taken), testing::Contains("Origin: named by a client"));
  EXPECT_EQ(StringAt(taken, "value", "verdict"), "No. Service shop/cart has it.");
  EXPECT_EQ(StringAt(taken, "value", "below", "value"), "10.0.0.9");
  EXPECT_EQ(CommandTexts(taken),
            "kubectl describe service cart -n shop\n"
            "kubectl get service cart -n shop -o yaml\n"
            "berth whois shop/cart\n"
            "berth blockers 10.0.0.0/24\n");
  EXPECT_EQ(ArrayAt(taken, "history", "spans").size(), 1U);
  EXPECT_THAT(FactTexts(taken), Not(testing::Contains(HasSubstr("History"))));
  const Value free = DetailsDocument(scene_, "10.0.0.8", "").value();
  EXPECT_THAT(StringAt(free, "value", "verdict"), HasSubstr("Yes. It is in the static band."));
  EXPECT_THAT(CommandTexts(free), HasSubstr("name: \"167772168\""));
  const Value excluded = DetailsDocument(scene_, "10.0.0.99", "").value();
  EXPECT_THAT(CommandTexts(excluded), Not(HasSubstr("kubectl create")));
}

TEST_F(DocumentsTest, DetailsOfAServiceHaveItsLabelsAndTroubles) {
  const Value document = DetailsDocument(scene_, "", "shop/web").value();
  const Value& service = ArrayAt(document, "services")[0];
  EXPECT_EQ(codec::WriteJson(*FindAt(service, "labels")), R"({"app":"web","tier":"front"})");
  EXPECT_EQ(StringAt(service, "created"), kCreated);
  const Value& hold = ArrayAt(service, "holds")[0];
  EXPECT_EQ(StringAt(hold, "key"), kShopRange);
  EXPECT_THAT(FactTexts(document),
              AllOf(testing::Contains("Trouble: 10.0.0.9 is also taken by blog/copy"),
                    testing::Contains("Trouble: 32768 is outside of every range")));
}

TEST_F(DocumentsTest, WhatIfSaysWhatWouldBe) {
  const Value smaller = WhatIfDocument(scene_, kShopRange, {"10.0.0.0/29"}).value();
  EXPECT_TRUE(FindAt(smaller, "error")->IsNull());
  EXPECT_EQ(StringAt(smaller, "then", "usable"), "6");
  EXPECT_TRUE(FindAt(smaller, "then", "staticFirst")->IsNull());
  EXPECT_EQ(IntAt(smaller, "blockerCount"), 4);
  EXPECT_EQ(StringAt(ArrayAt(smaller, "blockers")[0], "effort"), "hard");
  EXPECT_EQ(StringAt(ArrayAt(smaller, "blockers")[3], "service"), "shop/later");
  EXPECT_THAT(StringAt(smaller, "outcome"), HasSubstr("Berth refuses the change"));
  const Value larger = WhatIfDocument(scene_, kShopRange, {"10.0.0.0/20"}).value();
  EXPECT_EQ(IntAt(larger, "blockerCount"), 0);
  EXPECT_THAT(StringAt(larger, "outcome"), HasSubstr("Nothing stands in the way"));
  EXPECT_EQ(StringAt(larger, "then", "staticLast"), "10.0.1.0");
  const Value bad = WhatIfDocument(scene_, kShopRange, {"fd00::/64"}).value();
  EXPECT_THAT(StringAt(bad, "error"), HasSubstr("same kind"));
  EXPECT_EQ(StringAt(bad, "now", "range"), "10.0.0.0/24");
}

TEST_F(DocumentsTest, AViewSaysWhatChanged) {
  SmallCluster next = Shop();
  next.Add({.name_space = "shop", .name = "fresh", .values = {"10.0.0.130"}});
  const Scene now(next.Finish(), {.seq = 8});
  const Value view = ViewDocument(&scene_, now);
  EXPECT_EQ(IntAt(view, "seq"), 8);
  ASSERT_EQ(ArrayAt(view, "changes").size(), 1U);
  EXPECT_EQ(codec::WriteJson(ArrayAt(view, "changes")[0]),
            R"({"value":"10.0.0.130","pool":"IPv4","what":"taken","service":"shop/fresh",)"
            R"("keys":["ServiceCIDR/10.0.0.128/25/IPv4","IPRange/own/IPv4"],)"
            R"("offsets":["2","130"]})");
  EXPECT_THAT(ArrayAt(ViewDocument(nullptr, scene_), "changes"), IsEmpty());
}

TEST_F(DocumentsTest, TextFromOutsideStaysText) {
  const std::string hostile = "<script>alert(1)<!--\"'\\\n\x01\xff";
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Add({.name_space = hostile,
            .name = hostile,
            .values = {"10.0.0.9", "30080"},
            .origin = Origin::kNamed,
            .manager = hostile,
            .type = hostile});
  inspect::Service& service = small.view().services[0];
  service.labels = "app=" + hostile;
  service.tool = hostile;
  service.controller = hostile;
  service.holds[1].ports[0] = {.name = hostile, .port = 80, .protocol = hostile};
  small.view().source = hostile;
  const Scene scene(small.Finish(), {});
  const std::string key = "ServiceCIDR/10.0.0.0/24/IPv4";
  const std::vector<Value> documents = {
      OverviewDocument(scene, std::nullopt),
      FindingsDocument(scene),
      TileDocument(scene, {.key = key, .bits = "0", .index = "0"}).value(),
      TableDocument(scene, {.key = key}).value(),
      DetailsDocument(scene, "10.0.0.9", "").value(),
      DetailsDocument(scene, "", hostile + "/" + hostile).value(),
      SearchDocument(scene, "script").value(),
      WhatIfDocument(scene, key, {"10.0.0.0/29"}).value()};
  for (const Value& document : documents) {
    const std::string text = codec::WriteJson(document);
    const auto read = codec::ParseJson(text);
    ASSERT_TRUE(read.has_value()) << text;
    EXPECT_EQ(codec::WriteJson(*read), text);
    EXPECT_THAT(CommandTexts(document), Not(HasSubstr("script")));
  }
}

}  // namespace
}  // namespace berth::cli
