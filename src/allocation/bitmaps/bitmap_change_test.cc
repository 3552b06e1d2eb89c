#include "allocation/bitmaps/bitmap_change.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "alloc/testing/alloc_kit.h"

namespace berth::allocation {
namespace {

using alloc::Value;
using std::string_literals::operator""s;

BitmapLayout LayoutOf(const std::string& text) {
  return BitmapLayout::Of(ip::ParseCidr(text).value());
}
BitmapLayout LayoutOfPorts(const std::string& text) {
  return BitmapLayout::Of(ip::ParsePortRange(text).value());
}

TEST(BitmapChangeTest, TheBytesAreThoseOfKubernetes) {
  const BitmapLayout layout = LayoutOf("10.0.0.0/24");
  std::string data;
  EXPECT_FALSE(MakeChange(layout, {.takes = {Value("10.0.0.1"), Value("10.0.0.10")}}, data));
  EXPECT_EQ(data, "\x02\x01"s);  // Items 0 and 9: 0x201.
  EXPECT_FALSE(MakeChange(layout, {.releases = {Value("10.0.0.10")}}, data));
  EXPECT_EQ(data, "\x01"s) << "no zero bytes at the beginning";
  EXPECT_FALSE(MakeChange(layout, {.releases = {Value("10.0.0.1")}}, data));
  EXPECT_EQ(data, "");
}

TEST(BitmapChangeTest, OneThatIsTakenIsNotTakenTwiceAndNothingElseIsChanged) {
  const BitmapLayout layout = LayoutOfPorts("30000-32767");
  std::string data;
  ASSERT_FALSE(MakeChange(layout, {.takes = {30001}}, data));
  const std::string before = data;
  EXPECT_EQ(MakeChange(layout, {.takes = {30002, 30001}, .releases = {30001}}, data),
            (BitmapProblem{.kind = BitmapProblem::Kind::kTaken, .value = 30001}));
  EXPECT_EQ(MakeChange(layout, {.takes = {30002, 80}}, data),
            (BitmapProblem{.kind = BitmapProblem::Kind::kNoBit, .value = 80}));
  EXPECT_EQ(data, before);
}

TEST(BitmapChangeTest, ToGiveBackWhatIsFreeOrHasNoBitIsFine) {
  const BitmapLayout layout = LayoutOfPorts("30000-32767");
  std::string data = "\x02"s;
  EXPECT_FALSE(MakeChange(layout, {.releases = {30000, 30007, 30008, 32767, 80, 65535}}, data));
  EXPECT_EQ(data, "\x02"s);
}

TEST(BitmapChangeTest, BytesThatAreLongEnoughAreChangedWhereTheyAre) {
  const BitmapLayout layout = LayoutOfPorts("30000-32767");
  std::string data = "\x80\x00"s;
  const BitmapChange fits{.takes = {30000}, .releases = {30015}};
  EXPECT_TRUE(FitsInto(layout, fits, data.size()));
  EXPECT_FALSE(FitsInto(layout, {.takes = {30016}}, data.size()));
  WriteChange(layout, fits, data);
  EXPECT_EQ(data, "\x00\x01"s);
  EXPECT_EQ(LeadingZeros(data), 1U);
  EXPECT_EQ(LeadingZeros("\0\0"s), 2U);
  EXPECT_EQ(LeadingZeros(""), 0U);
}

TEST(BitmapChangeTest, BitsBeyondTheRangeStayAsTheyAre) {
  const BitmapLayout layout = LayoutOf("10.0.0.0/28");  // 14 addresses.
  std::string data = "\xff\x00\x00"s;
  EXPECT_FALSE(MakeChange(layout, {.takes = {Value("10.0.0.1")}}, data));
  EXPECT_EQ(data, "\xff\x00\x01"s);
  EXPECT_EQ(CompareBitmaps(layout, "", data),
            (BitmapDifference{.taken = {Value("10.0.0.1")}, .released = {}, .bits_beyond = 8}));
}

TEST(BitmapChangeTest, ADifferenceSaysWhatWasTakenAndGiven) {
  const BitmapLayout layout = LayoutOf("10.96.0.0/12");
  std::string before;
  const U128 first = Value("10.96.0.1");
  const U128 last = Value("10.111.255.254");
  ASSERT_FALSE(MakeChange(layout, {.takes = {first, first + 5000, last}}, before));
  ASSERT_EQ(before.size(), 131'072U);
  std::string after = before;
  ASSERT_FALSE(
      MakeChange(layout, {.takes = {first + 1, last - 7}, .releases = {first, last}}, after));
  EXPECT_EQ(CompareBitmaps(layout, before, after),
            (BitmapDifference{.taken = {first + 1, last - 7}, .released = {first, last}}));
  EXPECT_EQ(CompareBitmaps(layout, after, before),
            (BitmapDifference{.taken = {first, last}, .released = {first + 1, last - 7}}));
  EXPECT_EQ(CompareBitmaps(layout, after, after), BitmapDifference{});
}

/// Compares random changes with a set.
RC_GTEST_PROP(BitmapChangeProperty, AgreesWithASet, ()) {
  const BitmapLayout layout = LayoutOf("192.168.0.0/20");
  const U128 first = layout.ValueOf(0);
  std::set<uint64_t> model;
  std::string data;
  const auto steps = *rc::gen::container<std::vector<std::set<uint64_t>>>(
      rc::gen::container<std::set<uint64_t>>(rc::gen::inRange<uint64_t>(0, 4094)));
  for (const std::set<uint64_t>& step : steps) {
    BitmapChange change;
    std::vector<U128> taken;
    std::vector<U128> given;
    for (const uint64_t bit : step) {
      if (model.erase(bit) != 0) {
        change.releases.push_back(first + bit);
      } else {
        model.insert(bit);
        change.takes.push_back(first + bit);
      }
    }
    const std::string before = data;
    RC_ASSERT(!MakeChange(layout, change, data));
    RC_ASSERT(CompareBitmaps(layout, before, data) ==
              (BitmapDifference{.taken = change.takes, .released = change.releases}));
    RC_ASSERT(data.empty() || data.front() != '\0');
  }
  std::vector<U128> values;
  std::ranges::transform(model, std::back_inserter(values),
                         [first](uint64_t bit) { return first + bit; });
  RC_ASSERT(layout.Decode({.range = layout.range(), .data = data})->values == values);
}

}  // namespace
}  // namespace berth::allocation
