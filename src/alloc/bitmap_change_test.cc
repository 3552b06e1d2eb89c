#include "alloc/bitmap_change.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace berth::alloc {
namespace {

using std::string_literals::operator""s;

BitmapForm Cidr(const std::string& text) { return BitmapForm::Of(ip::ParseCidr(text).value()); }
BitmapForm Ports(const std::string& text) {
  return BitmapForm::Of(ip::ParsePortRange(text).value());
}
U128 Value(const std::string& addr) { return ip::ParseAddr(addr).value().bits(); }

TEST(BitmapChangeTest, TheBytesAreThoseOfKubernetes) {
  const BitmapForm form = Cidr("10.0.0.0/24");
  std::string data;
  EXPECT_FALSE(MakeChange(form, {.takes = {Value("10.0.0.1"), Value("10.0.0.10")}}, data));
  EXPECT_EQ(data, "\x02\x01"s);  // Items 0 and 9: 0x201.
  EXPECT_FALSE(MakeChange(form, {.gives = {Value("10.0.0.10")}}, data));
  EXPECT_EQ(data, "\x01"s) << "no zero bytes at the beginning";
  EXPECT_FALSE(MakeChange(form, {.gives = {Value("10.0.0.1")}}, data));
  EXPECT_EQ(data, "");
}

TEST(BitmapChangeTest, OneThatIsTakenIsNotTakenTwiceAndNothingElseIsChanged) {
  const BitmapForm form = Ports("30000-32767");
  std::string data;
  ASSERT_FALSE(MakeChange(form, {.takes = {30001}}, data));
  const std::string before = data;
  EXPECT_EQ(MakeChange(form, {.takes = {30002, 30001}, .gives = {30001}}, data),
            (BitmapProblem{.kind = BitmapProblem::Kind::kTaken, .value = 30001}));
  EXPECT_EQ(MakeChange(form, {.takes = {30002, 80}}, data),
            (BitmapProblem{.kind = BitmapProblem::Kind::kNoBit, .value = 80}));
  EXPECT_EQ(data, before);
}

TEST(BitmapChangeTest, ToGiveBackWhatIsFreeOrHasNoBitIsFine) {
  const BitmapForm form = Ports("30000-32767");
  std::string data = "\x02"s;
  EXPECT_FALSE(MakeChange(form, {.gives = {30000, 30007, 30008, 32767, 80, 65535}}, data));
  EXPECT_EQ(data, "\x02"s);
}

TEST(BitmapChangeTest, BytesThatAreLongEnoughAreChangedWhereTheyAre) {
  const BitmapForm form = Ports("30000-32767");
  std::string data = "\x80\x00"s;
  const BitmapChange fits{.takes = {30000}, .gives = {30015}};
  EXPECT_TRUE(FitsInto(form, fits, data.size()));
  EXPECT_FALSE(FitsInto(form, {.takes = {30016}}, data.size()));
  WriteChange(form, fits, data);
  EXPECT_EQ(data, "\x00\x01"s);
  EXPECT_EQ(LeadingZeros(data), 1U);
  EXPECT_EQ(LeadingZeros("\0\0"s), 2U);
  EXPECT_EQ(LeadingZeros(""), 0U);
}

TEST(BitmapChangeTest, BitsBeyondTheRangeStayAsTheyAre) {
  const BitmapForm form = Cidr("10.0.0.0/28");  // 14 addresses.
  std::string data = "\xff\x00\x00"s;
  EXPECT_FALSE(MakeChange(form, {.takes = {Value("10.0.0.1")}}, data));
  EXPECT_EQ(data, "\xff\x00\x01"s);
  EXPECT_EQ(CompareBitmaps(form, "", data),
            (BitmapDifference{.taken = {Value("10.0.0.1")}, .given = {}, .bits_beyond = 8}));
}

TEST(BitmapChangeTest, ADifferenceSaysWhatWasTakenAndGiven) {
  const BitmapForm form = Cidr("10.96.0.0/12");
  std::string before;
  const U128 first = Value("10.96.0.1");
  const U128 last = Value("10.111.255.254");
  ASSERT_FALSE(MakeChange(form, {.takes = {first, first + 5000, last}}, before));
  ASSERT_EQ(before.size(), 131'072U);
  std::string after = before;
  ASSERT_FALSE(MakeChange(form, {.takes = {first + 1, last - 7}, .gives = {first, last}}, after));
  EXPECT_EQ(CompareBitmaps(form, before, after),
            (BitmapDifference{.taken = {first + 1, last - 7}, .given = {first, last}}));
  EXPECT_EQ(CompareBitmaps(form, after, before),
            (BitmapDifference{.taken = {first, last}, .given = {first + 1, last - 7}}));
  EXPECT_EQ(CompareBitmaps(form, after, after), BitmapDifference{});
}

/// Any changes, against sets.
RC_GTEST_PROP(BitmapChangeProperty, AgreesWithASet, ()) {
  const BitmapForm form = Cidr("192.168.0.0/20");
  const U128 first = form.ValueOf(0);
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
        change.gives.push_back(first + bit);
      } else {
        model.insert(bit);
        change.takes.push_back(first + bit);
      }
    }
    const std::string before = data;
    RC_ASSERT(!MakeChange(form, change, data));
    RC_ASSERT(CompareBitmaps(form, before, data) ==
              (BitmapDifference{.taken = change.takes, .given = change.gives}));
    RC_ASSERT(data.empty() || data.front() != '\0');
  }
  std::vector<U128> values;
  std::ranges::transform(model, std::back_inserter(values),
                         [first](uint64_t bit) { return first + bit; });
  RC_ASSERT(form.Decode({.range = form.range(), .data = data})->values == values);
}

}  // namespace
}  // namespace berth::alloc
