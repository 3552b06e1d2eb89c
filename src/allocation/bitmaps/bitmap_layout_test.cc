#include "allocation/bitmaps/bitmap_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "alloc/testing/alloc_kit.h"
#include "base/random.h"

namespace berth::allocation {
namespace {

using alloc::Index;
using alloc::LayoutOf;
using alloc::Outcome;
using alloc::State;
using alloc::Value;
using namespace std::string_literals;

struct BitmapRange {
  BitmapLayout layout;
  Index index;
};

BitmapRange RangeOf(const std::string& text, const std::vector<U128>& taken = {}) {
  const ip::Cidr cidr = ip::ParseCidr(text).value();
  return {BitmapLayout::Of(cidr), Index::Load(LayoutOf(cidr).value(), taken).index};
}

BitmapRange RangeOfPorts(const std::string& text, const std::vector<U128>& taken = {}) {
  const ip::PortRange ports = ip::ParsePortRange(text).value();
  return {BitmapLayout::Of(ports), Index::Load(LayoutOf(ports).value(), taken).index};
}

// The worked example of the header.
TEST(RangeAllocationTest, FirstAndTenthAddress) {
  const BitmapRange range = RangeOf("10.0.0.0/24", {Value("10.0.0.1"), Value("10.0.0.10")});
  const auto stored = range.layout.Encode(range.index);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(*stored, (RangeAllocation{.range = "10.0.0.0/24", .data = "\x02\x01"s}));
  EXPECT_EQ(range.layout.Decode(*stored)->values,
            (std::vector<U128>{Value("10.0.0.1"), Value("10.0.0.10")}));
}

TEST(RangeAllocationTest, NothingTakenIsNoBytes) {
  const BitmapRange range = RangeOfPorts("30000-32767");
  EXPECT_EQ(*range.layout.Encode(range.index),
            (RangeAllocation{.range = "30000-32767", .data = ""}));
  EXPECT_TRUE(range.layout.Decode({.range = "30000-32767", .data = ""})->values.empty());
}

TEST(RangeAllocationTest, BitZeroOfAPortRangeIsItsFirstPort) {
  const BitmapRange range = RangeOfPorts("30000-32767", {30000, 32767});
  const std::string data = range.layout.Encode(range.index)->data;
  EXPECT_EQ(data.size(), 346u);  // 2,768 bits
  EXPECT_EQ(data.front(), '\x80');
  EXPECT_EQ(data.back(), '\x01');
}

TEST(RangeAllocationTest, PortZeroKeepsItsBitThoughItCannotBeTaken) {
  const BitmapRange range = RangeOfPorts("0-100", {1});
  EXPECT_EQ(range.layout.Encode(range.index)->data, "\x02"s);
  const auto decoded = range.layout.Decode({.range = "0-100", .data = "\x03"s});
  EXPECT_EQ(decoded->values, (std::vector<U128>{0, 1}));
  EXPECT_EQ(Index::Load(range.index.layout(), decoded->values).out_of_range, std::vector<U128>{0});
}

TEST(RangeAllocationTest, LeadingZeroBytesAreReadButNotWritten) {
  const BitmapRange range = RangeOf("10.0.0.0/24");
  const auto decoded = range.layout.Decode({.range = "10.0.0.0/24", .data = "\0\0\x01"s});
  EXPECT_EQ(decoded->values, std::vector<U128>{Value("10.0.0.1")});
}

TEST(RangeAllocationTest, AnotherRangeIsRefusedInKubernetesWords) {
  EXPECT_EQ(
      RangeOf("10.0.0.0/24").layout.Decode({.range = "10.0.0.0/16", .data = ""}).error().message,
      "the provided network does not match the current range");
  EXPECT_EQ(RangeOfPorts("30000-32767")
                .layout.Decode({.range = "30000-32000", .data = ""})
                .error()
                .message,
            "the provided port range does not match the current port range");
}

TEST(RangeAllocationTest, BitsBeyondTheRangeAreCountedNotGuessed) {
  const BitmapRange range = RangeOf("10.0.0.0/28");  // 14 addresses
  const auto decoded = range.layout.Decode({.range = "10.0.0.0/28", .data = "\xff\xff\xff"s});
  EXPECT_EQ(decoded->values.size(), 14u);
  EXPECT_EQ(decoded->bits_beyond, 10u);
}

TEST(RangeAllocationTest, ARangeWithNothingUsableHasNoBits) {
  for (const char* text : {"10.0.0.0/31", "10.0.0.0/32", "fd00::/128",
                           "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"}) {
    const auto decoded = RangeOf(text).layout.Decode({.range = text, .data = "\x01"s});
    EXPECT_TRUE(decoded->values.empty()) << text;
    EXPECT_EQ(decoded->bits_beyond, 1u) << text;
  }
}

TEST(RangeAllocationTest, OfAWideIpv6RangeOnlyTheFirst65536AddressesHaveABit) {
  BitmapRange range = RangeOf("fd00::/64");
  ASSERT_EQ(range.index.Take(Value("fd00::ffff")), Outcome::kDone);
  EXPECT_EQ(range.layout.Encode(range.index)->data.size(), 8192u);
  ASSERT_EQ(range.index.Take(Value("fd00::1:0")), Outcome::kDone);
  const auto stored = range.layout.Encode(range.index);
  ASSERT_FALSE(stored.has_value());
  EXPECT_EQ(stored.error().message,
            "value " + base::ToDecimal(Value("fd00::1:0")) +
                " of fd00::/64 cannot be stored in a bitmap, which has only the first 65535 "
                "values of the range");
}

TEST(RangeAllocationTest, ReservedAndCoolingValuesAreNotStored) {
  BitmapRange range = RangeOf("10.0.0.0/24");
  ASSERT_EQ(range.index.Reserve(Value("10.0.0.1")), Outcome::kDone);
  range.index.Put(Value("10.0.0.2"), State::kCooling);
  EXPECT_EQ(range.layout.Encode(range.index)->data, "");
}

/// Encodes bit by bit, with the bits in an array.
std::string NaiveBytes(const std::set<uint64_t>& bits) {
  if (bits.empty()) return "";
  std::string bytes(*bits.rbegin() / 8 + 1, '\0');
  for (const uint64_t bit : bits) {
    char& byte = bytes[bytes.size() - 1 - bit / 8];
    byte = static_cast<char>(byte | (1 << bit % 8));
  }
  return bytes;
}

RC_GTEST_PROP(RangeAllocationProperty, RoundTripsAndAgreesWithANaiveEncoder, ()) {
  const auto bits = *rc::gen::container<std::set<uint64_t>>(rc::gen::inRange<uint64_t>(0, 1022));
  std::vector<U128> values;
  for (const uint64_t bit : bits) values.push_back(Value("192.168.0.1") + bit);
  const BitmapRange range = RangeOf("192.168.0.0/22", values);
  const RangeAllocation stored = *range.layout.Encode(range.index);
  RC_ASSERT(stored.data == NaiveBytes(bits));
  RC_ASSERT(range.layout.Decode(stored)->values == values);
}

}  // namespace
}  // namespace berth::allocation
