#include "ip/port_range.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "base/uint128.h"

namespace berth::ip {
namespace {

using namespace std::string_view_literals;

/// Returns "first-last", or the error.
std::string Outcome(std::string_view text) {
  const base::Result<PortRange> range = ParsePortRange(text);
  if (range) return range->ToString();
  EXPECT_EQ(range.error().reason, base::Reason::kInvalid);
  return range.error().message;
}

struct Row {
  std::string_view text;
  std::string_view outcome;
};

TEST(PortRangeTest, KnowsItsSizeAndMembers) {
  constexpr PortRange kDefault(30000, 32767);
  EXPECT_EQ(kDefault.Size(), 2768u);
  EXPECT_TRUE(kDefault.Contains(30000));
  EXPECT_TRUE(kDefault.Contains(32767));
  EXPECT_FALSE(kDefault.Contains(29999));
  EXPECT_FALSE(kDefault.Contains(32768));
  EXPECT_EQ(kDefault.ToString(), "30000-32767");
  EXPECT_EQ(PortRange(80, 80).ToString(), "80-80");
  EXPECT_EQ(PortRange(80, 80).Size(), 1u);
  EXPECT_EQ(PortRange(0, 65535).Size(), 65536u);
  EXPECT_EQ(kDefault, PortRange(30000, 32767));
  EXPECT_NE(kDefault, PortRange(30000, 32766));
}

TEST(ParsePortRangeTest, ReadsTheThreeNotations) {
  const std::vector<Row> rows = {
      {"30000-32767", "30000-32767"},
      {"30000+2767", "30000-32767"},
      {"80", "80-80"},
      {"0", "0-0"},
      {"0-65535", "0-65535"},
      {"0+65535", "0-65535"},
      {"65535", "65535-65535"},
      {"65535+0", "65535-65535"},
      {"80-80", "80-80"},
      {"00080-00081", "80-81"},
      {"10++5", "10-15"},  // The second number may have a sign of its own.
  };
  for (const Row& row : rows) EXPECT_EQ(Outcome(row.text), row.outcome) << row.text;
}

TEST(ParsePortRangeTest, TrimsWhiteSpaceAroundTheWholeOnly) {
  const std::vector<Row> rows = {
      {" 80-81", "80-81"},
      {"80-81\n", "80-81"},
      {"\t\v\f\r\n 80-81 \t\v\f\r\n", "80-81"},
      {"\u00a080-81\u3000", "80-81"},
      {"\u008580-81\u2028", "80-81"},
      {"80 - 81", R"(strconv.Atoi: parsing "80 ": invalid syntax)"},
      {"80- 81", R"(strconv.Atoi: parsing " 81": invalid syntax)"},
      {"\u200b80", R"(strconv.Atoi: parsing "\u200b80": invalid syntax)"},
      {" 81-80 ", "end port cannot be less than start port: 81-80"},
      {" 70000 ", "the port range cannot be greater than 65535: 70000"},
      {" 1-2+3 ", "unable to parse port range: 1-2+3"},
  };
  for (const Row& row : rows) EXPECT_EQ(Outcome(row.text), row.outcome) << row.text;
}

TEST(ParsePortRangeTest, RefusesNothingAndMixedNotations) {
  const std::vector<Row> rows = {
      {"", "unable to parse port range: "},
      {" \t\n", "unable to parse port range: "},
      {"1-2+3", "unable to parse port range: 1-2+3"},
      {"1+2-3", "unable to parse port range: 1+2-3"},
      {"+-", "unable to parse port range: +-"},
      {"10-+5", "unable to parse port range: 10-+5"},
  };
  for (const Row& row : rows) EXPECT_EQ(Outcome(row.text), row.outcome) << row.text;
}

TEST(ParsePortRangeTest, ReportsBadNumbersAsAtoiDoes) {
  const std::vector<Row> rows = {
      {"http", R"(strconv.Atoi: parsing "http": invalid syntax)"},
      {"-", R"(strconv.Atoi: parsing "": invalid syntax)"},
      {"+", R"(strconv.Atoi: parsing "": invalid syntax)"},
      {"-5", R"(strconv.Atoi: parsing "": invalid syntax)"},
      {"+5", R"(strconv.Atoi: parsing "": invalid syntax)"},
      {"80-", R"(strconv.Atoi: parsing "": invalid syntax)"},
      {"80+", R"(strconv.Atoi: parsing "": invalid syntax)"},
      {"80--", R"(strconv.Atoi: parsing "-": invalid syntax)"},
      {"80++", R"(strconv.Atoi: parsing "+": invalid syntax)"},
      {"80-81-82", R"(strconv.Atoi: parsing "81-82": invalid syntax)"},
      {"80+1+1", R"(strconv.Atoi: parsing "1+1": invalid syntax)"},
      {"a-b", R"(strconv.Atoi: parsing "a": invalid syntax)"},
      {"80-b", R"(strconv.Atoi: parsing "b": invalid syntax)"},
      {"0x50", R"(strconv.Atoi: parsing "0x50": invalid syntax)"},
      {"1_000", R"(strconv.Atoi: parsing "1_000": invalid syntax)"},
      {"8.0", R"(strconv.Atoi: parsing "8.0": invalid syntax)"},
      {"9223372036854775808", R"(strconv.Atoi: parsing "9223372036854775808": value out of range)"},
      {"1--9223372036854775809",
       R"(strconv.Atoi: parsing "-9223372036854775809": value out of range)"},
      {"1+18446744073709551617",
       R"(strconv.Atoi: parsing "18446744073709551617": value out of range)"},
      // A letter matters only if the digits before it fit 64 bits.
      {"18446744073709551615x", R"(strconv.Atoi: parsing "18446744073709551615x": invalid syntax)"},
      {"18446744073709551616x",
       R"(strconv.Atoi: parsing "18446744073709551616x": value out of range)"},
  };
  for (const Row& row : rows) EXPECT_EQ(Outcome(row.text), row.outcome) << row.text;
}

TEST(ParsePortRangeTest, QuotesBadNumbersAsGoDoes) {
  EXPECT_EQ(Outcome("8\u00a00\n\xff."),
            R"(strconv.Atoi: parsing "8\u00a00\n\xff.": invalid syntax)");
}

TEST(ParsePortRangeTest, RefusesPortsThatDoNotExist) {
  const std::vector<std::string_view> texts = {
      "65536",
      "0-65536",
      "65536-65537",
      "70000-1",  // "Too large" is checked before the order.
      "65535+1",
      "0+65536",
      "1+9223372036854775807",
      "9223372036854775807+1",
      "9223372036854775807+9223372036854775807",
      "65535+9223372036854775807",
      "9223372036854775807-9223372036854775807",
  };
  for (const std::string_view text : texts) {
    EXPECT_EQ(Outcome(text), fmt::format("the port range cannot be greater than 65535: {}", text));
  }
}

TEST(ParsePortRangeTest, RefusesEndsOutOfOrder) {
  for (const std::string_view text :
       {"81-80"sv, "65535-0"sv, "80--80"sv, "0--1"sv, "1--9223372036854775808"sv}) {
    EXPECT_EQ(Outcome(text), fmt::format("end port cannot be less than start port: {}", text));
  }
}

// ---- Properties ---------------------------------------------------------------------------------

RC_GTEST_PROP(PortRangeProperty, TextReadsBack, (uint16_t a, uint16_t b)) {
  const PortRange range(std::min(a, b), std::max(a, b));
  RC_ASSERT(ParsePortRange(range.ToString()) == range);
  const std::string with_plus = fmt::format(" {}+{} ", range.first(), range.Size() - 1);
  RC_ASSERT(ParsePortRange(with_plus) == range);
}

/// The bounds of a text, computed with numbers that are wide enough.
struct Model {
  bool accepted = false;
  base::U128 low = 0;
  base::U128 high = 0;
};

Model Expect(base::U128 first, char sign, base::U128 second) {
  const base::U128 high = sign == '-' ? second : first + second;
  return {.accepted = first <= high && high <= 65535, .low = first, .high = high};
}

RC_GTEST_PROP(PortRangeProperty, AcceptsExactlyTheOrderedPairsOfPorts, ()) {
  const auto gen = rc::gen::oneOf(rc::gen::inRange<uint64_t>(0, 70000),
                                  rc::gen::inRange<uint64_t>(0, UINT64_MAX),
                                  rc::gen::element<uint64_t>(0, 65535, 65536, INT64_MAX));
  const uint64_t first = *gen;
  const uint64_t second = *gen;
  for (const char sign : {'-', '+'}) {
    const std::string text = fmt::format("{}{}{}", first, sign, second);
    RC_LOG() << text;
    const Model model = Expect(first, sign, second);
    const base::Result<PortRange> range = ParsePortRange(text);
    RC_ASSERT(range.has_value() == model.accepted);
    if (!range) continue;
    RC_ASSERT(range->first() == model.low);
    RC_ASSERT(range->last() == model.high);
  }
}

/// Returns the number that a part of an accepted text stands for. Only for parts of few digits.
int64_t Value(std::string_view part) {
  const bool negative = part.starts_with('-');
  if (negative || part.starts_with('+')) part.remove_prefix(1);
  int64_t value = 0;
  for (const char c : part) value = value * 10 + (c - '0');
  return negative ? -value : value;
}

// A bound is returned as 16 bits, so a bound out of range would become another number. For every
// short text, the accepted numbers must be exactly the ones written.
TEST(ParsePortRangeTest, NeverReturnsABoundThatWasNotWritten) {
  constexpr std::string_view kAlphabet = "-+019 x";
  int accepted = 0;
  std::string text;
  const auto check = [&] {
    const base::Result<PortRange> range = ParsePortRange(text);
    if (!range) return;
    ++accepted;
    std::string_view trimmed = text;
    while (trimmed.starts_with(' ')) trimmed.remove_prefix(1);
    while (trimmed.ends_with(' ')) trimmed.remove_suffix(1);
    const size_t split = trimmed.find_first_of("-+");
    const int64_t low = Value(trimmed.substr(0, split));
    int64_t high = low;
    if (split != std::string_view::npos) {
      high = Value(trimmed.substr(split + 1)) + (trimmed[split] == '+' ? low : 0);
    }
    ASSERT_TRUE(0 <= low && low <= high && high <= 65535) << text;
    ASSERT_EQ(range->first(), low) << text;
    ASSERT_EQ(range->last(), high) << text;
  };
  const auto all = [&](const auto& self, int more) -> void {
    check();
    if (more == 0) return;
    for (const char c : kAlphabet) {
      text.push_back(c);
      self(self, more - 1);
      text.pop_back();
    }
  };
  all(all, 6);
  EXPECT_GT(accepted, 1000);
}

TEST(ParsePortRangeTest, KeepsItsBoundsOnRandomText) {
  const uint64_t seed = base::TestSeed(20240607);
  SCOPED_TRACE(fmt::format("BERTH_SEED={}", seed));
  base::SeededRandom random(seed);
  constexpr std::string_view kAlphabet = "0123456789012345678901234567890123456789-+ ";
  for (int64_t i = base::LongCount(1'000'000); i > 0; --i) {
    std::string text(base::Uniform(random, 45), '0');
    for (char& c : text) c = kAlphabet[base::Uniform(random, kAlphabet.size())];
    const base::Result<PortRange> range = ParsePortRange(text);
    if (!range) continue;
    ASSERT_LE(range->first(), range->last()) << text;
    ASSERT_TRUE(ParsePortRange(range->ToString()) == *range) << text;
  }
}

}  // namespace
}  // namespace berth::ip
