#include "ip/cidr.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::ip {
namespace {

using base::MakeU128;
using base::U128;
using Texts = std::vector<std::string>;

constexpr std::string_view kUnreadable =
    "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
constexpr std::string_view kLeadingZeros = "must not have leading 0s in IP or prefix length";
constexpr std::string_view kMapped = "must not have an IPv4-mapped IPv6 address";
constexpr std::string_view kHostBits = "must not have bits set beyond the prefix length";

/// Parses a text that must be valid.
Cidr Block(std::string_view text) {
  const base::Result<Cidr> cidr = ParseCidr(text);
  EXPECT_TRUE(cidr.has_value()) << text;
  return cidr.value_or(Cidr(Addr(Family::kV4, 0), 0));
}

Addr Address(std::string_view text) {
  const base::Result<Addr> addr = ParseAddr(text);
  EXPECT_TRUE(addr.has_value()) << text;
  return addr.value_or(Addr(Family::kV4, 0));
}

TEST(CidrTest, KnowsItsEndsAndSize) {
  struct Row {
    std::string_view text;
    std::string_view first;
    std::string_view last;
    std::string_view size;
  };
  const std::vector<Row> rows = {
      {"10.96.0.0/16", "10.96.0.0", "10.96.255.255", "65536"},
      {"10.9.8.7/32", "10.9.8.7", "10.9.8.7", "1"},
      {"10.9.8.6/31", "10.9.8.6", "10.9.8.7", "2"},
      {"0.0.0.0/0", "0.0.0.0", "255.255.255.255", "4294967296"},
      {"fd00:10:96::/112", "fd00:10:96::", "fd00:10:96::ffff", "65536"},
      {"::1/128", "::1", "::1", "1"},
      {"fd00::/64", "fd00::", "fd00::ffff:ffff:ffff:ffff", "18446744073709551616"},
      {"8000::/1", "8000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
       "170141183460469231731687303715884105728"},
      {"::/0", "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
       "340282366920938463463374607431768211456"},
  };
  for (const Row& row : rows) {
    const Cidr cidr = Block(row.text);
    EXPECT_EQ(cidr.First().ToString(), row.first);
    EXPECT_EQ(cidr.Last().ToString(), row.last);
    EXPECT_EQ(cidr.SizeText(), row.size);
    EXPECT_EQ(cidr.ToString(), row.text);
    EXPECT_EQ(cidr.host_bits() + cidr.prefix_length(), Width(cidr.family()));
  }
}

TEST(CidrTest, SizeSaturatesForAllOfIpv6Only) {
  EXPECT_TRUE(Block("::/0").Size() == base::kU128Max);
  EXPECT_TRUE(Block("::/1").Size() == U128{1} << 127);
  EXPECT_TRUE(Block("0.0.0.0/0").Size() == U128{1} << 32);
  EXPECT_TRUE(Block("::/128").Size() == 1);
}

TEST(CidrTest, CutsHostBitsOff) {
  EXPECT_EQ(Cidr(Address("10.9.8.7"), 24).ToString(), "10.9.8.0/24");
  EXPECT_EQ(Cidr(Address("255.255.255.255"), 0).ToString(), "0.0.0.0/0");
  EXPECT_EQ(Cidr(Address("fd00::ffff"), 120).ToString(), "fd00::ff00/120");
  EXPECT_EQ(Cidr(Address("10.9.8.7"), 24), Block("10.9.8.0/24"));
  EXPECT_NE(Block("10.9.8.0/24"), Block("10.9.8.0/25"));
}

TEST(CidrTest, ContainsAddressesOfItsFamilyBetweenItsEnds) {
  const Cidr v4 = Block("10.96.0.0/16");
  EXPECT_TRUE(v4.Contains(Address("10.96.0.0")));
  EXPECT_TRUE(v4.Contains(Address("10.96.255.255")));
  EXPECT_FALSE(v4.Contains(Address("10.95.255.255")));
  EXPECT_FALSE(v4.Contains(Address("10.97.0.0")));
  EXPECT_FALSE(v4.Contains(Address("::a60:0")));  // The same number in the other family.
  const Cidr v6 = Block("fd00:10:96::/112");
  EXPECT_TRUE(v6.Contains(Address("fd00:10:96::ffff")));
  EXPECT_FALSE(v6.Contains(Address("fd00:10:96::1:0")));
  EXPECT_FALSE(Block("::/0").Contains(Address("0.0.0.0")));
  EXPECT_TRUE(Block("::/0").Contains(Address("ffff::")));
}

TEST(CidrTest, ContainsAndOverlapsBlocks) {
  struct Row {
    std::string_view a;
    std::string_view b;
    bool a_contains_b;
    bool overlap;
  };
  const std::vector<Row> rows = {
      {"10.96.0.0/16", "10.96.0.0/16", true, true},
      {"10.96.0.0/16", "10.96.128.0/17", true, true},
      {"10.96.128.0/17", "10.96.0.0/16", false, true},
      {"10.96.0.0/17", "10.96.128.0/17", false, false},
      {"10.96.0.0/16", "10.97.0.0/16", false, false},
      {"0.0.0.0/0", "10.9.8.7/32", true, true},
      {"::/0", "fd00::/64", true, true},
      {"::/0", "0.0.0.0/0", false, false},
      {"0.0.0.0/0", "::/0", false, false},
      {"fd00::/64", "fd00:0:0:1::/64", false, false},
  };
  for (const Row& row : rows) {
    const Cidr a = Block(row.a);
    const Cidr b = Block(row.b);
    EXPECT_EQ(a.Contains(b), row.a_contains_b) << row.a << " " << row.b;
    EXPECT_EQ(a.Overlaps(b), row.overlap) << row.a << " " << row.b;
    EXPECT_EQ(b.Overlaps(a), row.overlap) << row.a << " " << row.b;
  }
}

TEST(ParseCidrLooseTest, ReadsAndSaysWhatItNoticed) {
  struct Row {
    std::string_view text;
    std::string_view canonical;
    bool leading_zeros = false;
    bool v4_mapped = false;
    bool host_bits_set = false;
  };
  const std::string many_zeros(5000, '0');
  const std::string long_prefix = "10.0.0.0/" + many_zeros + "8";
  const std::vector<Row> rows = {
      {"10.9.8.0/24", "10.9.8.0/24"},
      {"0.0.0.0/0", "0.0.0.0/0"},
      {"::/0", "::/0"},
      {"2001:DB8::/64", "2001:db8::/64"},
      {"::1.2.3.0/120", "::102:300/120"},
      {"10.9.8.7/24", "10.9.8.0/24", false, false, true},
      {"10.9.8.7/0", "0.0.0.0/0", false, false, true},
      {"2001:db8::1/64", "2001:db8::/64", false, false, true},
      {"010.9.8.0/24", "10.9.8.0/24", true},
      {"10.9.8.0/024", "10.9.8.0/24", true},
      {"0.0.0.0/00", "0.0.0.0/0", true},
      {"00001::/64", "1::/64", true},
      {"::/0128", "::/128", true},
      {long_prefix, "10.0.0.0/8", true},
      {"010.9.8.7/024", "10.9.8.0/24", true, false, true},
      // Mapped, with a prefix of at least 96 bits: an IPv4 block.
      {"::ffff:10.9.8.0/120", "10.9.8.0/24", false, true},
      {"::ffff:10.9.8.7/120", "10.9.8.0/24", false, true, true},
      {"::ffff:10.9.8.7/128", "10.9.8.7/32", false, true},
      {"::ffff:0:0/96", "0.0.0.0/0", false, true},
      {"::ffff:10.9.8.7/96", "0.0.0.0/0", false, true, true},
      // Mapped, with a shorter prefix: the IPv6 block, which always cuts off some of the ffff.
      {"::ffff:0:0/95", "::fffe:0:0/95", false, true, true},
      {"::ffff:10.9.8.7/88", "::ff00:0:0/88", false, true, true},
      {"::ffff:10.9.8.7/24", "::/24", false, true, true},
      {"::ffff:10.9.8.7/0", "::/0", false, true, true},
  };
  for (const Row& row : rows) {
    const std::optional<LooseCidr> loose = ParseCidrLoose(row.text);
    ASSERT_TRUE(loose.has_value()) << row.text;
    EXPECT_EQ(loose->cidr.ToString(), row.canonical) << row.text;
    EXPECT_EQ(loose->leading_zeros, row.leading_zeros) << row.text;
    EXPECT_EQ(loose->v4_mapped, row.v4_mapped) << row.text;
    EXPECT_EQ(loose->host_bits_set, row.host_bits_set) << row.text;
  }
}

TEST(ParseCidrLooseTest, RefusesWhatIsNoBlock) {
  const std::vector<std::string_view> texts = {
      "", "/", "/24", "10.9.8.0", "10.9.8.0/",
      // The prefix length is out of bounds or not a number.
      "10.9.8.0/33", "10.9.8.0/128", "::/129", "::ffff:10.9.8.7/129", "10.9.8.0/4294967304",
      "10.9.8.0/18446744073709551624", "10.9.8.0/-1", "10.9.8.0/+8", "10.9.8.0/8a", "10.9.8.0/0x8",
      "10.9.8.0/8/8", "10.9.8.0//8", "10.9.8.0/255.255.255.0", "fe80::/64%eth0",
      // Space in any place.
      "10.9.8.0/ 8", "10.9.8.0/8 ", " 10.9.8.0/8", "10.9.8.0 /8",
      // The address is not valid.
      "10/8", "10.9.8/24", "fe80::1%eth0/64", "1:::2/64"};
  for (const std::string_view text : texts) {
    EXPECT_FALSE(ParseCidrLoose(text).has_value()) << text;
    EXPECT_EQ(CidrProblems(text), Texts{std::string(kUnreadable)}) << text;
    EXPECT_EQ(CidrProblems(text, Strictness::kLegacyField), Texts{std::string(kUnreadable)})
        << text;
    const base::Result<Cidr> cidr = ParseCidr(text);
    ASSERT_FALSE(cidr.has_value()) << text;
    EXPECT_EQ(cidr.error().message, kUnreadable) << text;
    EXPECT_EQ(cidr.error().reason, base::Reason::kInvalid) << text;
  }
}

TEST(CidrProblemsTest, ListsThemInTheOrderOfKubernetes) {
  struct Row {
    std::string_view text;
    std::vector<std::string_view> problems;
  };
  const std::vector<Row> rows = {
      {"10.9.8.0/24", {}},
      {"2001:db8::/64", {}},
      {"::/0", {}},
      // Leading zeros hide all other problems.
      {"10.09.8.0/24", {kLeadingZeros}},
      {"10.9.8.0/024", {kLeadingZeros}},
      {"10.9.8.7/024", {kLeadingZeros}},
      {"::ffff:10.9.8.07/120", {kLeadingZeros}},
      {"10.9.8.7/24", {kHostBits}},
      {"2001:DB8::1/64", {kHostBits}},  // Not canonical either, but that is not reported.
      {"::ffff:10.9.8.0/120", {kMapped}},
      {"::ffff:10.9.8.7/120", {kMapped, kHostBits}},
      {"::ffff:0:0/90", {kMapped, kHostBits}},
  };
  for (const Row& row : rows) {
    const Texts expected(row.problems.begin(), row.problems.end());
    for (const Strictness strictness : {Strictness::kLegacyField, Strictness::kCanonical}) {
      EXPECT_EQ(CidrProblems(row.text, strictness), expected) << row.text;
      const base::Result<Cidr> cidr = ParseCidr(row.text, strictness);
      ASSERT_EQ(cidr.has_value(), expected.empty()) << row.text;
      if (cidr) continue;
      EXPECT_EQ(cidr.error().message, expected.front()) << row.text;
      EXPECT_EQ(cidr.error().reason, base::Reason::kInvalid);
    }
  }
}

TEST(CidrProblemsTest, OnlyCanonicalFieldsRefuseOtherSpellings) {
  struct Row {
    std::string_view text;
    std::string_view canonical;
  };
  const std::vector<Row> rows = {{"2001:DB8::/64", "2001:db8::/64"},
                                 {"2001:db8:0:0::/64", "2001:db8::/64"},
                                 {"::1.2.3.0/120", "::102:300/120"},
                                 {"0:0:0:0:0:0:0:0/0", "::/0"}};
  for (const Row& row : rows) {
    EXPECT_EQ(CidrProblems(row.text, Strictness::kLegacyField), Texts{}) << row.text;
    EXPECT_EQ(CidrProblems(row.text),
              Texts{fmt::format("must be in canonical form (\"{}\")", row.canonical)});
    const base::Result<Cidr> legacy = ParseCidr(row.text, Strictness::kLegacyField);
    ASSERT_TRUE(legacy.has_value()) << row.text;
    EXPECT_EQ(legacy->ToString(), row.canonical);
  }
}

// ---- Properties ---------------------------------------------------------------------------------

/// Returns all blocks within a /28, or a /124 in IPv6. There are few enough
/// to try every pair and address.
std::vector<Cidr> BlocksWithin(const Addr& base, int free_bits) {
  std::vector<Cidr> blocks;
  for (int host_bits = 0; host_bits <= free_bits; ++host_bits) {
    for (U128 at = 0; at < U128{1} << free_bits; at += U128{1} << host_bits) {
      blocks.emplace_back(Addr(base.family(), base.bits() + at), Width(base.family()) - host_bits);
    }
  }
  return blocks;
}

TEST(CidrBruteForceTest, ContainmentAndOverlapAreThoseOfTheSetsOfAddresses) {
  constexpr int kFreeBits = 4;
  for (const std::string_view base : {"10.9.8.16", "0.0.0.0", "255.255.255.240", "fd00::ff0",
                                      "::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff0"}) {
    const Addr start = Address(base);
    const std::vector<Cidr> blocks = BlocksWithin(start, kFreeBits);
    ASSERT_EQ(blocks.size(), 31u);
    std::vector<uint32_t> members;  // One bit for each of the 16 addresses.
    for (const Cidr& block : blocks) {
      uint32_t set = 0;
      for (uint32_t i = 0; i < 1u << kFreeBits; ++i) {
        const Addr addr(start.family(), start.bits() + i);
        const bool between = block.First() <= addr && addr <= block.Last();
        ASSERT_EQ(block.Contains(addr), between) << block.ToString() << " " << addr.ToString();
        if (between) set |= 1u << i;
      }
      EXPECT_TRUE(block.Size() == static_cast<U128>(__builtin_popcount(set)));
      members.push_back(set);
    }
    for (size_t a = 0; a < blocks.size(); ++a) {
      for (size_t b = 0; b < blocks.size(); ++b) {
        EXPECT_EQ(blocks[a].Contains(blocks[b]), (members[a] & members[b]) == members[b]);
        EXPECT_EQ(blocks[a].Overlaps(blocks[b]), (members[a] & members[b]) != 0);
      }
    }
  }
}

U128 PickBits(int width) {
  const auto word = [] { return *rc::gen::inRange<uint64_t>(0, UINT64_MAX); };
  return width == 32 ? U128{word() >> 32} : MakeU128(word(), word());
}

Cidr PickCidr(Family family) {
  const int width = Width(family);
  return {Addr(family, PickBits(width)), *rc::gen::inRange(0, width + 1)};
}

Family PickFamily() { return *rc::gen::element(Family::kV4, Family::kV6); }

/// Picks a block that shares a prefix with `cidr`, so that nested and
/// disjoint pairs are both likely.
Cidr PickNear(const Cidr& cidr) {
  const int width = Width(cidr.family());
  const int changed = *rc::gen::inRange(0, width);
  const U128 flipped = cidr.First().bits() ^ (PickBits(width) & ((U128{1} << changed) - 1));
  return {Addr(cidr.family(), flipped), *rc::gen::inRange(0, width + 1)};
}

RC_GTEST_PROP(CidrProperty, EndsAndSizeAgree, ()) {
  const Cidr cidr = PickCidr(PickFamily());
  RC_LOG() << cidr.ToString();
  RC_ASSERT(cidr.First() <= cidr.Last());
  const U128 span = cidr.Last().bits() - cidr.First().bits();
  RC_ASSERT(span == (cidr.host_bits() == 128 ? base::kU128Max : cidr.Size() - 1));
  RC_ASSERT(cidr.First().bits() % (span == base::kU128Max ? 1 : span + 1) == 0);
  RC_ASSERT(cidr.Contains(cidr.First()) && cidr.Contains(cidr.Last()));
  if (cidr.host_bits() < 128) RC_ASSERT(cidr.SizeText() == base::ToDecimal(span + 1));
}

RC_GTEST_PROP(CidrProperty, ContainmentAndOverlapAreThoseOfIntervals, ()) {
  const Cidr a = PickCidr(PickFamily());
  const Cidr b = PickNear(a);
  RC_LOG() << a.ToString() << " " << b.ToString();
  RC_ASSERT(a.Contains(b) == (a.First() <= b.First() && b.Last() <= a.Last()));
  RC_ASSERT(a.Overlaps(b) == (a.First() <= b.Last() && b.First() <= a.Last()));
  RC_ASSERT(a.Overlaps(b) == b.Overlaps(a));
  RC_ASSERT(a.Contains(b.Last()) == (a.First() <= b.Last() && b.Last() <= a.Last()));
}

RC_GTEST_PROP(CidrProperty, FamiliesNeverMeet, ()) {
  const Cidr v4 = PickCidr(Family::kV4);
  const Cidr v6 = PickCidr(Family::kV6);
  RC_ASSERT(!v4.Overlaps(v6) && !v6.Overlaps(v4) && !v4.Contains(v6) && !v6.Contains(v4));
  RC_ASSERT(!v4.Contains(v6.First()) && !v6.Contains(v4.First()));
}

RC_GTEST_PROP(CidrProperty, CanonicalTextIsAcceptedAndReadsBack, ()) {
  const Cidr cidr = PickCidr(PickFamily());
  RC_PRE((cidr.First().bits() >> 32) != 0xFFFF);
  RC_ASSERT(CidrProblems(cidr.ToString()).empty());
  const base::Result<Cidr> read = ParseCidr(cidr.ToString());
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == cidr);
}

RC_GTEST_PROP(CidrProperty, LenientReadingFindsTheBlockOfAnyAddressInIt, ()) {
  const Family family = PickFamily();
  const Addr addr(family, PickBits(Width(family)));
  const int length = *rc::gen::inRange(0, Width(family) + 1);
  const std::optional<LooseCidr> loose =
      ParseCidrLoose(fmt::format("{}/{}", addr.ToString(), length));
  RC_ASSERT(loose.has_value());
  RC_ASSERT(loose->cidr.prefix_length() == length);
  RC_ASSERT(loose->cidr.Contains(addr));
  RC_ASSERT(loose->host_bits_set == (loose->cidr.First() != addr));
  RC_ASSERT(!loose->leading_zeros);
}

RC_GTEST_PROP(CidrProperty, MappedBlocksAreIpv4BlocksFrom96BitsOn, (uint32_t bits)) {
  const Addr v4(Family::kV4, bits);
  const int length = *rc::gen::inRange(0, 129);
  const std::string text = fmt::format("::ffff:{}/{}", v4.ToString(), length);
  const std::optional<LooseCidr> loose = ParseCidrLoose(text);
  RC_ASSERT(loose.has_value());
  RC_ASSERT(loose->v4_mapped);
  const Addr as_v6(Family::kV6, (U128{0xFFFF} << 32) | bits);
  RC_ASSERT(loose->cidr == (length >= 96 ? Cidr(v4, length - 96) : Cidr(as_v6, length)));
  RC_ASSERT(!ParseCidr(text).has_value());
}

}  // namespace
}  // namespace berth::ip
