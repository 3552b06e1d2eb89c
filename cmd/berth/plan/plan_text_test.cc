#include "berth/plan/plan_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "berth/paint.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr Style kPlain{};
constexpr Style kUtf8{.color = false, .utf8 = true};
constexpr Style kColor{.color = true, .utf8 = true};

std::string Text(const std::vector<std::string>& ranges, std::string_view used = "",
                 const Style& style = kPlain) {
  auto plan = PlanRanges(ranges);
  EXPECT_TRUE(plan.has_value());
  if (!plan) return {};
  if (!used.empty()) {
    base::Result<Used> read = ReadUsed(used);
    EXPECT_TRUE(read.has_value()) << (read ? "" : read.error().message);
    if (read) AddUsage(*plan, *std::move(read));
  }
  return PlanText(*plan, "used.txt", style);
}

TEST(PlanTextTest, ShowsARange) {
  EXPECT_EQ(Text({"30000-32767"}),
            "30000-32767   node ports\n"
            "\n"
            "  Safe to hard-code: 30000 to 30085; a dynamic request takes one of these only when "
            "the dynamic band\n"
            "  is full.\n"
            "\n"
            "  Size       2,768\n"
            "  Usable     2,768\n"
            "  Static     30000 - 30085      86\n"
            "  Dynamic    30086 - 32767   2,682\n"
            "\n"
            "  ###..............................................................................."
            "......\n"
            "  |  \\ 30086\n"
            "  \\ 30000                                                                          "
            "32767 /\n");
}

TEST(PlanTextTest, ShowsAddresses) {
  const std::string text = Text({"10.96.0.0/16"}, "", kUtf8);
  EXPECT_THAT(text, HasSubstr("Size       65,536\n"));
  EXPECT_THAT(text, HasSubstr("Static     10.96.0.1 – 10.96.1.0          256\n"));
  EXPECT_THAT(text, HasSubstr("Dynamic    10.96.1.1 – 10.96.255.254   65,278\n"));
  EXPECT_THAT(text, HasSubstr("First      10.96.0.1    static band; by convention the kubernetes"));
  EXPECT_THAT(text, HasSubstr("Tenth      10.96.0.10   static band; by convention cluster DNS"));
  EXPECT_THAT(text, HasSubstr("10.96.255.255   broadcast address"));
  EXPECT_THAT(text, HasSubstr("│╰ 10.96.1.1\n"));
}

TEST(PlanTextTest, HugeNumbersHaveAHint) {
  const std::string text = Text({"2001:db8::/48"});
  EXPECT_THAT(text, HasSubstr("1,208,925,819,614,629,174,706,176 (2^80)"));
  EXPECT_THAT(text, HasSubstr("1,208,925,819,614,629,174,705,919 (about 2^80)"));
  EXPECT_THAT(Text({"::/0"}), HasSubstr("211,456 (2^128)"));
}

TEST(PlanTextTest, TheBorderIsLabelledOnTheSideWithRoom) {
  auto plan = PlanRanges({"30000-32767"}, 2760);
  ASSERT_TRUE(plan.has_value());
  const std::string text = PlanText(*plan, "", kPlain);
  EXPECT_THAT(text, HasSubstr("#.\n  |"));
  EXPECT_THAT(text, HasSubstr(" 32760 /\n"));
}

TEST(PlanTextTest, ShowsUsage) {
  const std::string text =
      Text({"10.0.0.0/24"}, "10.0.0.1 a\n10.0.0.200 b\n10.0.0.200 c\n80\n10.1.1.1 d");
  EXPECT_THAT(text, HasSubstr("BAND      TOTAL   USED   FREE   FULL\n"));
  EXPECT_THAT(text, HasSubstr("static       16      1     15   6.2%   ##......................\n"));
  EXPECT_THAT(text, HasSubstr("Used in the static band\n    10.0.0.1   a\n"));
  EXPECT_THAT(text, HasSubstr("Free in the static band\n    10.0.0.2 - 10.0.0.16   15\n"));
  EXPECT_THAT(text, HasSubstr("Used twice\n    10.0.0.200   b (line 2), c (line 3)\n"));
  EXPECT_THAT(text, HasSubstr("Used outside the ranges\n  10.1.1.1   in none of the ranges   d\n"));
  EXPECT_THAT(
      text,
      HasSubstr("used.txt: a list with 4 values in use; 1 used twice, 1 outside the ranges."));
  EXPECT_THAT(text, HasSubstr("1 node port in the file was not checked: no port range was given."));
}

TEST(PlanTextTest, CutsLongLists) {
  std::string list;
  for (int i = 1; i <= 100; ++i) list += "10.96.0." + std::to_string(2 * i) + "\n";
  for (int i = 1; i <= 50; ++i) list += "10.96.9." + std::to_string(2 * i) + "\n";
  const std::string text = Text({"10.96.0.0/16"}, list);
  EXPECT_THAT(text, HasSubstr("    10.96.0.40\n    and 80 more; -o json lists all\n"));
  EXPECT_THAT(text, HasSubstr("    10.96.9.10\n    and 45 more; -o json lists all\n"));
  EXPECT_THAT(text, HasSubstr("Free in the dynamic band, largest gaps\n"));
}

TEST(PlanTextTest, TheFirstOwnersOfAValueUsedTwiceAreNamed) {
  std::string list;
  for (int i = 0; i < 30; ++i) list += "30000 owner-" + std::to_string(i) + "\n";
  const std::string text = Text({"30000-32767"}, list);
  std::istringstream words(text.substr(text.find("Used twice")));
  int owners = 0;
  for (std::string word; words >> word;) {
    if (word == "owner-" + std::to_string(owners)) ++owners;
  }
  EXPECT_EQ(owners, 10);
  EXPECT_THAT(text, HasSubstr("and 20 more; -o json lists all"));
}

TEST(PlanTextTest, ReportsOtherObjectsAndEmptyFiles) {
  EXPECT_THAT(Text({"30000-32767"}, R"([{"kind":"Pod"},{"kind":"Pod"}])"),
              HasSubstr("used.txt: 0 Services with 0 values in use.\n"
                        "2 objects in the file are not Services and were ignored.\n"));
}

TEST(PlanTextTest, ColoursOnlyWhenAsked) {
  std::string list;
  for (int port = 30000; port < 30085; ++port) list += std::to_string(port) + "\n";
  for (int port = 30086; port < 32300; ++port) list += std::to_string(port) + "\n";
  EXPECT_THAT(Text({"30000-32767"}, list, kUtf8), Not(HasSubstr("\x1b[")));
  const std::string text = Text({"30000-32767"}, list, kColor);
  EXPECT_THAT(text, HasSubstr("\x1b[31m█"));
  EXPECT_THAT(text, HasSubstr("\x1b[33m█"));
}

TEST(PlanTextTest, OwnersCannotSteerTheTerminal) {
  EXPECT_THAT(Text({"30000-32767"}, "30000 \x1b[31mred"), Not(HasSubstr("\x1b")));
}

/// Checks lines for all ranges and owners, in every style.
TEST(PlanTextTest, NoLineIsWiderThanAHundredColumns) {
  const std::string owner(150, 'x');
  std::string list;
  for (const std::string_view value :
       {"10.96.0.1", "10.96.0.1", "fd12:3456:789a:bcde:f012:3456:789a:bcde", "30000", "99",
        "2001:db8:ffff:ffff:ffff:ffff:ffff:fffe", "::5", "10.96.255.255"}) {
    list += std::string(value) + " " + owner + "\n";
  }
  for (const Style& style : {kPlain, kUtf8}) {
    std::istringstream lines(
        Text({"10.96.0.0/16", "fd12:3456:789a:bcde:f012:3456:789a:0/112", "0-65535", "::/0", "::/1",
              "::/64", "2001:db8::/32", "fd12:3456:789a:bcde:f012:3456:789a:bcde/127",
              "fd12:3456:789a:bcde:f012:3456:789a:bcde/128", "0.0.0.0/0", "10.0.0.0/31", "80",
              "fd12:3456:789a:bcde::/64"},
             list, style));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(DisplayWidth(line), 100u) << line;
  }
}

TEST(PlanTextTest, NarrowBarsHaveRoomForLongAddresses) {
  for (const uint64_t band : {1u, 50u, 60u, 64u, 66u, 100u, 126u}) {
    auto plan = PlanRanges({"fd12:3456:789a:bcde:f012:3456:789a:bc00/121"}, band);
    ASSERT_TRUE(plan.has_value());
    std::istringstream lines(PlanText(*plan, "", {.width = 80}));
    size_t hung = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  |") || line.starts_with("  \\")) {
        EXPECT_LE(DisplayWidth(line), 82u) << line;
        ++hung;
      }
    }
    EXPECT_EQ(hung, 3u);
  }
}

TEST(PaintTest, GaugesShowWhetherThereIsAnythingAndWhetherItIsAll) {
  const Paint paint(kPlain);
  EXPECT_EQ(paint.Gauge(0, 4), "....");
  EXPECT_EQ(paint.Gauge(0.001, 4), "#...");
  EXPECT_EQ(paint.Gauge(50, 4), "##..");
  EXPECT_EQ(paint.Gauge(99.999, 4), "###.");
  EXPECT_EQ(paint.Gauge(100, 4), "####");
}

TEST(PaintTest, PercentagesDoNotRoundToNoneOrAll) {
  EXPECT_EQ(PercentText(0), "0.0%");
  EXPECT_EQ(PercentText(0.01), "<0.1%");
  EXPECT_EQ(PercentText(12.34), "12.3%");
  EXPECT_EQ(PercentText(99.99), ">99.9%");
  EXPECT_EQ(PercentText(100), "100.0%");
}

TEST(PaintTest, FillingUpChangesTheColour) {
  EXPECT_EQ(FillColor(79.9), Color::kGreen);
  EXPECT_EQ(FillColor(80), Color::kYellow);
  EXPECT_EQ(FillColor(89.9), Color::kYellow);
  EXPECT_EQ(FillColor(90), Color::kRed);
}

}  // namespace
}  // namespace berth::cli
