#include "berth/inspect/top_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "berth/inspect/growth_text.h"
#include "berth/inspect/top_document.h"
#include "berth/text.h"
#include "codec/json.h"
#include "inspect/testing/small_cluster.h"

namespace berth::cli {
namespace {

using inspect::SmallCluster;
using testing::HasSubstr;
using testing::Not;

std::string TopOf(SmallCluster& builder, const Style& style, bool wide = false) {
  const inspect::Cluster cluster = builder.Finish();
  const inspect::Census census(cluster);
  return TopText(cluster, inspect::MakeTop(census, {}), style, wide);
}

SmallCluster Example() {
  SmallCluster builder;
  builder.Range("10.96.0.0/27").Range("30000-32767");
  builder.Add({.name_space = "default",
               .name = "kubernetes",
               .values = {"10.96.0.1"},
               .origin = inspect::Origin::kNamed,
               .created = "2026-01-01T00:00:00Z"});
  for (int i = 0; i < 13; ++i) {
    inspect::TestService service{.name = "web-" + std::to_string(10 + i),
                                 .values = {"10.96.0." + std::to_string(17 + i)},
                                 .origin = inspect::Origin::kDrawn,
                                 .created = "2026-11-" + std::to_string(10 + i / 2) + "T00:00:00Z"};
    if (i == 0) {
      service.type = "NodePort";
      service.values.emplace_back("30080");
    }
    builder.Add(service);
  }
  return builder;
}

TEST(TopTextTest, ShowsRangesAttentionAndHolders) {
  SmallCluster builder = Example();
  EXPECT_EQ(TopOf(builder, {.width = 80}), R"(test.json   2026-11-18 12:00:00 UTC
14 Services: 13 ClusterIP, 1 NodePort

      RANGE                  USED   VALUES  STATIC  DYNAMIC      GROWTH  FULL IN
  !!  10.96.0.0/27  ###...  46.7%    14/30    1/16    13/14   +3.2/week     34 d
      30000-32767   #.....  <0.1%  1/2,768    1/86  0/2,682  +0.1/month   >100 y

Needs attention
  !! the dynamic band of 10.96.0.0/27 is 92.9% full: 1 value is free
     -> add a ServiceCIDR; berth forecast --resize shows what that changes
  !! the dynamic band of 10.96.0.0/27 is full in about 2 days (at the earliest
     1) at the rate of the last 28 days
     -> berth forecast shows the dates, and what a larger range changes
  -  1 value of the static band of 30000-32767 was drawn by requests for any
     value, while the dynamic band was full or before there were bands
     -> a hard-coded value of that band may be taken; ask berth whois before you
        use one

Who holds most
  NAMESPACE  ADDRESSES  PORTS  SERVICES
  shop              13      1        13
  default            1      -         1

What this cannot tell
  Rates come from the creation times of the Services that exist now. They are a
  lower bound on how many are created, because deleted Services are not seen,
  and the net growth is less where older Services were deleted meanwhile.
)");
}

TEST(TopTextTest, FitsANarrowTerminal) {
  SmallCluster builder = Example();
  EXPECT_THAT(TopOf(builder, {.utf8 = true, .width = 40}),
              testing::StartsWith(R"(test.json   2026-11-18 12:00:00 UTC
14 Services: 13 ClusterIP, 1 NodePort

      RANGE          USED  FULL IN
  !!  10.96.0.0/27  46.7%     34 d
      30000-32767   <0.1%   >100 y

Needs attention
  !! the dynamic band of 10.96.0.0/27 is
     92.9% full: 1 value is free
     → add a ServiceCIDR; berth forecast
       --resize shows what that changes
)"));
}

TEST(TopTextTest, WideHasAllColumns) {
  SmallCluster builder = Example();
  const std::string text = TopOf(builder, {.width = 40}, /*wide=*/true);
  for (const char* heading :
       {"RANGE", "VALUES", "STATIC", "DYNAMIC", "RESERVED", "SPILL", "GROWTH", "FULL IN", "FREE",
        "COOLING", "EXCLUDED", "NO SERVICE", "NAMED IN DYNAMIC", "STATE", "SOURCE"}) {
    EXPECT_THAT(text, HasSubstr(heading));
  }
}

TEST(TopTextTest, NoLineIsWiderThanTheTerminal) {
  for (const size_t width : {40U, 60U, 80U, 100U, 120U}) {
    SmallCluster builder = Example();
    builder.Range("fd12:3456:789a:bcde:f012:3456:789a:0/112").Range("fd00::/64");
    builder.Add({.name_space = std::string(63, 'n'),
                 .name = std::string(150, 'x'),
                 .values = {"10.99.0.1"}});
    std::istringstream lines(TopOf(builder, {.utf8 = true, .width = width}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(DisplayWidth(line), width) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(TopTextTest, ColourIsTheOnlyDifferenceThatColourMakes) {
  SmallCluster builder = Example();
  SmallCluster again = Example();
  const std::string plain = TopOf(builder, {.utf8 = true, .width = 100});
  std::string colored = TopOf(again, {.color = true, .utf8 = true, .width = 100});
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  EXPECT_THAT(colored, HasSubstr("\x1b[31m!!\x1b[0m"));
  for (size_t at = colored.find('\x1b'); at != std::string::npos; at = colored.find('\x1b')) {
    colored.erase(at, colored.find('m', at) + 1 - at);
  }
  EXPECT_EQ(colored, plain);
}

TEST(TopTextTest, NamesCannotSteerTheTerminal) {
  SmallCluster builder;
  builder.Range("10.96.0.0/24");
  for (const char* name : {"a\x1b[31m", "b"}) {
    builder.Add({.name_space = "n\x1b[2J", .name = name, .values = {"10.96.0.9"}});
  }
  EXPECT_THAT(TopOf(builder, {}), Not(HasSubstr("\x1b")));
}

TEST(TopDocumentTest, HasAllKeysAndExactCounts) {
  const inspect::Cluster cluster = SmallCluster().Range("fd00::/64").Range("30000-32767").Finish();
  const inspect::Census census(cluster);
  const codec::Value document = TopDocument(cluster, inspect::MakeTop(census, {}));
  const std::string text = codec::WriteJson(document);
  EXPECT_THAT(text,
              HasSubstr(R"("kind":"Top","source":"test.json","readAt":"2026-11-18T12:00:00Z",)"
                        R"("server":null,"version":null,"revision":null)"));
  EXPECT_THAT(text,
              HasSubstr(R"("usable":9223372036854775807,"usableText":"18446744073709551615")"));
  EXPECT_THAT(text, HasSubstr(R"("growth":{"basis":"None","perDay":null,)"));
  EXPECT_THAT(text, HasSubstr(R"("full":{"known":false,"fullNow":false,"earliest":null,)"));
  for (const char* key :
       {"attention", "serviceCount", "types", "namespaceCount", "namespaces", "gaps"}) {
    EXPECT_TRUE(codec::HasAt(document, key)) << key;
  }
}

TEST(GrowthTextTest, RatesAndTimesAreReadable) {
  EXPECT_EQ(RateText(0), "0");
  EXPECT_EQ(RateText(0.001), "0");
  EXPECT_EQ(RateText(0.01), "+0.3/month");
  EXPECT_EQ(RateText(0.5), "+3.5/week");
  EXPECT_EQ(RateText(1), "+1/day");
  EXPECT_EQ(RateText(-2), "-2/day");
  EXPECT_EQ(RateText(1234.4), "+1,234/day");
  EXPECT_EQ(RateText(1e30), "+1e+30/day");
  EXPECT_EQ(ShortDays(0.01), "1 h");
  EXPECT_EQ(ShortDays(1.5), "36 h");
  EXPECT_EQ(ShortDays(12.4), "12 d");
  EXPECT_EQ(ShortDays(300), "10 mo");
  EXPECT_EQ(ShortDays(800), "2 y");
  EXPECT_EQ(ShortDays(1e300), ">100 y");
  EXPECT_EQ(DaysInWords(1), "24 hours");
  EXPECT_EQ(DaysInWords(0.02), "1 hour");
  EXPECT_EQ(DaysInWords(1e9), "more than 100 years");
}

}  // namespace
}  // namespace berth::cli
