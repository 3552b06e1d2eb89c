#include "ip/addr.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::ip {
namespace {

using base::MakeU128;
using base::U128;

constexpr U128 kOneToEight = MakeU128(0x0001000200030004, 0x0005000600070008);

std::string ErrorText(const base::Result<Addr>& result) {
  if (result) return "accepted: " + result->ToString();
  EXPECT_EQ(result.error().reason, base::Reason::kInvalid);
  return result.error().message;
}

TEST(FamilyTest, HasTheNamesAndWidthsOfKubernetes) {
  EXPECT_EQ(FamilyText(Family::kV4), "IPv4");
  EXPECT_EQ(FamilyText(Family::kV6), "IPv6");
  EXPECT_EQ(Width(Family::kV4), 32);
  EXPECT_EQ(Width(Family::kV6), 128);
}

TEST(AddrTest, OrdersByFamilyThenNumber) {
  const Addr small4(Family::kV4, 1);
  const Addr large4(Family::kV4, 0xFFFFFFFF);
  const Addr small6(Family::kV6, 0);
  const Addr large6(Family::kV6, MakeU128(1, 0));
  EXPECT_LT(small4, large4);
  EXPECT_LT(large4, small6);
  EXPECT_LT(small6, large6);
  EXPECT_NE(Addr(Family::kV4, 1), Addr(Family::kV6, 1));
  EXPECT_EQ(small4, Addr(Family::kV4, 1));
}

TEST(AddrTest, WritesCanonicalText) {
  struct Row {
    Family family;
    U128 bits;
    std::string_view text;
  };
  const std::vector<Row> rows = {
      {Family::kV4, 0, "0.0.0.0"},
      {Family::kV4, 0x0A090807, "10.9.8.7"},
      {Family::kV4, 0xFFFFFFFF, "255.255.255.255"},
      {Family::kV6, 0, "::"},
      {Family::kV6, 1, "::1"},
      {Family::kV6, MakeU128(uint64_t{1} << 48, 0), "1::"},
      {Family::kV6, kOneToEight, "1:2:3:4:5:6:7:8"},
      {Family::kV6, base::kU128Max, "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
      {Family::kV6, MakeU128(0xABCDEF0000000000, 0), "abcd:ef00::"},
      // A single zero group is written out, wherever it is.
      {Family::kV6, MakeU128(0x0000000200030004, 0x0005000600070008), "0:2:3:4:5:6:7:8"},
      {Family::kV6, MakeU128(0x0001000200000004, 0x0005000600070008), "1:2:0:4:5:6:7:8"},
      {Family::kV6, MakeU128(0x0001000200030004, 0x0005000600070000), "1:2:3:4:5:6:7:0"},
      // The longest run is compressed; of several, the leftmost.
      {Family::kV6, MakeU128(0x0001000000000004, 0x0000000000000008), "1:0:0:4::8"},
      {Family::kV6, MakeU128(0x0001000000000000, 0x0005000000000008), "1::5:0:0:8"},
      {Family::kV6, MakeU128(0x0001000000000004, 0x0005000000000008), "1::4:5:0:0:8"},
      {Family::kV6, MakeU128(0x0000000000030004, 0x0005000600000000), "::3:4:5:6:0:0"},
      {Family::kV6, MakeU128(0x0001000200030004, 0x0005000600000000), "1:2:3:4:5:6::"},
      // IPv4 inside IPv6 stays hexadecimal.
      {Family::kV6, 0x01020304, "::102:304"},
      {Family::kV6, MakeU128(0, 0xFFFF01020304), "::ffff:102:304"},
  };
  for (const Row& row : rows) EXPECT_EQ(Addr(row.family, row.bits).ToString(), row.text);
}

TEST(ParseAddrLooseTest, ReadsAndSaysWhatItNoticed) {
  struct Row {
    std::string_view text;
    std::string_view canonical;
    bool leading_zeros = false;
    bool v4_mapped = false;
  };
  const std::string many_zeros = std::string(5000, '0');
  const std::string long_v4 = many_zeros + "10.0.0." + many_zeros + "255";
  const std::string long_v6 = many_zeros + "ffff::" + many_zeros + "1";
  const std::vector<Row> rows = {
      {"10.9.8.7", "10.9.8.7"},
      {"0.0.0.0", "0.0.0.0"},
      {"255.255.255.255", "255.255.255.255"},
      {"010.0.0.1", "10.0.0.1", true},
      {"10.0.0.01", "10.0.0.1", true},
      {"10.00.0.1", "10.0.0.1", true},
      {long_v4, "10.0.0.255", true},
      {"::", "::"},
      {"::1", "::1"},
      {"1::", "1::"},
      {"1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"},
      {"1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"},
      {"::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"},
      {"1:2:3::5:6:7:8", "1:2:3:0:5:6:7:8"},
      {"1:0:0:4:0:0:0:8", "1:0:0:4::8"},
      {"2001:DB8::FFFF", "2001:db8::ffff"},
      {"2001:0db8:0000:0000:0000:0000:0000:0001", "2001:db8::1"},
      {"::1.2.3.4", "::102:304"},
      {"1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:102:304"},
      {"64:ff9b::255.255.255.255", "64:ff9b::ffff:ffff"},
      {"1:2:3:4:5::1.2.3.4", "1:2:3:4:5:0:102:304"},
      {"00001::", "1::", true},
      {"::00000", "::", true},
      {"0000::0000", "::"},
      {"::01.2.3.4", "::102:304", true},
      {"::1.2.3.004", "::102:304", true},
      {long_v6, "ffff::1", true},
      {"::ffff:10.0.0.1", "10.0.0.1", false, true},
      {"::ffff:a00:1", "10.0.0.1", false, true},
      {"::FFFF:0:0", "0.0.0.0", false, true},
      {"0:0:0:0:0:ffff:255.255.255.255", "255.255.255.255", false, true},
      {"::ffff:010.0.0.1", "10.0.0.1", true, true},
      {"::0ffff:a00:1", "10.0.0.1", true, true},
      // Next to the mapped block, not in it.
      {"::fffe:10.0.0.1", "::fffe:a00:1"},
      {"::1:ffff:10.0.0.1", "::1:ffff:a00:1"},
      {"::ffff:0:a00:1", "::ffff:0:a00:1"},
  };
  for (const Row& row : rows) {
    const std::optional<LooseAddr> loose = ParseAddrLoose(row.text);
    ASSERT_TRUE(loose.has_value()) << row.text;
    EXPECT_EQ(loose->addr.ToString(), row.canonical) << row.text;
    EXPECT_EQ(loose->leading_zeros, row.leading_zeros) << row.text;
    EXPECT_EQ(loose->v4_mapped, row.v4_mapped) << row.text;
  }
}

TEST(ParseAddrLooseTest, RefusesWhatIsNoAddress) {
  using namespace std::string_view_literals;
  const std::vector<std::string_view> texts = {
      "", "1", "abc", "localhost", " ", "4294967295",
      // IPv4: not four decimal fields of one byte.
      ".", "...", "1.2.3", "1.2.3.", ".1.2.3", "1.2.3.4.", ".1.2.3.4", "1.2.3.4.5", "1..3.4",
      "256.0.0.0", "0.0.0.256", "1.2.3.4294967297", "1.2.3.18446744073709551617", "1.2.3.-4",
      "1.2.3.+4", "1.2.3.a", "0x1.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.4/32", "1.2.3.4:80",
      "1.2:3::", "1.2.3.4\0"sv, "1.2.3.4%eth0",
      // IPv6: a lone colon at an end, a second "::", too few or too many groups.
      ":", ":::", "::::", ":1", "1:", ":1::", "1::2:", ":1:2:3:4:5:6:7:8",
      "1:2:3:4:5:6:7:8:", "1:::2", ":::1", "1:::", "1::2::3", "::1::", "1:2:3:4:5:6:7",
      "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::1:2:3:4:5:6:7:8", "1:2:3:4::5:6:7:8",
      "1:2:3:4:5:6:7:8:1.2.3.4", "10000::", "::fffff", "::123456789abcdef01", "::g", "::1\0"sv,
      "[::1]", "::1/128", "::1 ", " ::1", "fe80::1%eth0", "fe80::1%", "::-1",
      // An embedded IPv4 address must be complete and last, and there must be room for it.
      "1:2:3:4:5:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "::1:2:3:4:5:6:1.2.3.4",
      "::1:2:3:4:5:6:7:1.2.3.4", "::1.2.3.4:5", "::1.2.3", "::1.2.3.256", "::1.2.3.4.5",
      "::a.2.3.4", "::1.2.3.f", "::1.", "::.1"};
  for (const std::string_view text : texts) {
    EXPECT_FALSE(ParseAddrLoose(text).has_value()) << text;
    for (const Strictness strictness : {Strictness::kLegacyField, Strictness::kCanonical}) {
      EXPECT_EQ(ErrorText(ParseAddr(text, strictness)),
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")
          << text;
    }
  }
}

TEST(ParseAddrTest, SaysOneThingInTheOrderOfKubernetes) {
  struct Row {
    std::string_view text;
    std::string_view error;
  };
  const std::vector<Row> rows = {
      {"00.0.0.0", "must not have leading 0s"},
      {"1.2.3.04", "must not have leading 0s"},
      {"::1.2.3.04", "must not have leading 0s"},
      {"::00001", "must not have leading 0s"},
      {"::ffff:1.2.3.04", "must not have leading 0s"},
      {"::ffff:1.2.3.4", "must not be an IPv4-mapped IPv6 address"},
      {"::FFFF:102:304", "must not be an IPv4-mapped IPv6 address"},
      {"0:0:0:0:0:ffff:0:0", "must not be an IPv4-mapped IPv6 address"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ErrorText(ParseAddr(row.text, Strictness::kLegacyField)), row.error) << row.text;
    EXPECT_EQ(ErrorText(ParseAddr(row.text)), row.error) << row.text;
  }
}

TEST(ParseAddrTest, OnlyCanonicalFieldsRefuseOtherSpellings) {
  struct Row {
    std::string_view text;
    std::string_view canonical;
  };
  const std::vector<Row> rows = {
      {"2001:DB8::1", "2001:db8::1"},
      {"2001:db8:0:0::1", "2001:db8::1"},
      {"0001::", "1::"},
      {"::1.2.3.4", "::102:304"},
      {"1:0:0:4::8", "1:0:0:4::8"},
      {"1::4:0:0:0:8", "1:0:0:4::8"},
      {"10.9.8.7", "10.9.8.7"},
      {"::", "::"},
  };
  for (const Row& row : rows) {
    const base::Result<Addr> legacy = ParseAddr(row.text, Strictness::kLegacyField);
    ASSERT_TRUE(legacy.has_value()) << row.text;
    EXPECT_EQ(legacy->ToString(), row.canonical);
    const std::string expected =
        row.text == row.canonical
            ? fmt::format("accepted: {}", row.canonical)
            : fmt::format("must be in canonical form (\"{}\")", row.canonical);
    EXPECT_EQ(ErrorText(ParseAddr(row.text)), expected) << row.text;
  }
}

TEST(DecimalNameTest, NamesTheEndsOfBothFamilies) {
  struct Row {
    std::string_view name;
    Family family;
    std::string_view text;
  };
  const std::vector<Row> rows = {
      {"0", Family::kV4, "0.0.0.0"},
      {"1", Family::kV4, "0.0.0.1"},
      {"168364039", Family::kV4, "10.9.8.7"},
      {"4294967295", Family::kV4, "255.255.255.255"},
      {"4294967296", Family::kV6, "::1:0:0"},
      {"340282366920938463463374607431768211455", Family::kV6,
       "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"},
  };
  for (const Row& row : rows) {
    const base::Result<Addr> addr = ParseDecimalName(row.name);
    ASSERT_TRUE(addr.has_value()) << row.name;
    EXPECT_EQ(addr->family(), row.family);
    EXPECT_EQ(addr->ToString(), row.text);
    EXPECT_EQ(addr->DecimalName(), row.name);
  }
}

TEST(DecimalNameTest, SmallIpv6AddressesHaveNone) {
  for (const U128 bits : {U128{0}, U128{1}, U128{0xFFFFFFFF}}) {
    EXPECT_EQ(Addr(Family::kV6, bits).DecimalName(), std::nullopt);
  }
  EXPECT_EQ(Addr(Family::kV6, U128{1} << 32).DecimalName(), "4294967296");
}

TEST(DecimalNameTest, SaysWhatIsWrongWithAName) {
  using namespace std::string_view_literals;
  constexpr std::string_view kDigits =
      "must be an IP address written as a decimal number, with digits only";
  for (const std::string_view text : {""sv, "-1"sv, "+1"sv, " 1"sv, "1 "sv, "1a"sv, "0x10"sv,
                                      "10.0.0.1"sv, "::1"sv, "1\0"sv, "01a"sv, "\xd9\xa1"sv}) {
    EXPECT_EQ(ErrorText(ParseDecimalName(text)), kDigits) << text;
  }
  for (const std::string_view text : {"00", "01", "0340282366920938463463374607431768211455"}) {
    EXPECT_EQ(ErrorText(ParseDecimalName(text)), "must not have leading 0s") << text;
  }
  for (const std::string& text :
       {std::string("340282366920938463463374607431768211456"),
        std::string("999999999999999999999999999999999999999"), std::string(5000, '9')}) {
    EXPECT_EQ(ErrorText(ParseDecimalName(text)),
              "must not be greater than 340282366920938463463374607431768211455, the number of the "
              "last IPv6 address");
  }
}

// ---- Properties ---------------------------------------------------------------------------------

/// Generates so few values that runs of zero groups, the mapped block and its neighbours all occur.
rc::Gen<uint16_t> GenGroup() {
  return rc::gen::weightedOneOf<uint16_t>({{6, rc::gen::just<uint16_t>(0)},
                                           {2, rc::gen::just<uint16_t>(0xFFFF)},
                                           {4, rc::gen::inRange<uint16_t>(0, 0xFFFF)}});
}

std::array<uint16_t, 8> PickGroups() {
  std::array<uint16_t, 8> groups;
  for (uint16_t& group : groups) group = *GenGroup();
  return groups;
}

U128 Number(const std::array<uint16_t, 8>& groups) {
  U128 bits = 0;
  for (const uint16_t group : groups) bits = bits * 65536 + group;
  return bits;
}

/// Picks any IPv4 address, or any IPv6 address that is not IPv4-mapped.
Addr PickAddr() {
  if (*rc::gen::arbitrary<bool>()) {
    return {Family::kV4, U128{*GenGroup()} * 65536 + *GenGroup()};
  }
  const U128 bits = Number(PickGroups());
  RC_PRE((bits >> 32) != 0xFFFF);
  return {Family::kV6, bits};
}

struct Spelling {
  std::string text;
  bool leading_zeros = false;
};

std::string PickZeros() { return std::string(*rc::gen::inRange<size_t>(0, 4), '0'); }

/// Writes an IPv4 address, adding zeros in front of fields when `loose`.
Spelling SpellV4(uint32_t bits, bool loose) {
  Spelling out;
  for (int shift = 24; shift >= 0; shift -= 8) {
    const std::string zeros = loose ? PickZeros() : "";
    out.leading_zeros |= !zeros.empty();
    out.text += fmt::format("{}{}{}", shift == 24 ? "" : ".", zeros, (bits >> shift) & 0xFF);
  }
  return out;
}

/// Writes an IPv6 address in one of its possible spellings.
Spelling SpellV6(const std::array<uint16_t, 8>& groups, bool loose) {
  const bool dotted = *rc::gen::arbitrary<bool>();
  const size_t count = dotted ? 6 : 8;
  const size_t gap = *rc::gen::inRange<size_t>(0, count + 1);  // No "::" if this is `count`.
  Spelling out;
  for (size_t i = 0; i < count; ++i) {
    if (i == gap && groups[i] == 0) {
      out.text += "::";
      while (i + 1 < count && groups[i + 1] == 0 && *rc::gen::inRange(0, 4) != 0) ++i;
      continue;
    }
    if (!out.text.empty() && !out.text.ends_with(':')) out.text += ':';
    const std::string zeros = loose ? PickZeros() : "";
    const std::string digits =
        zeros + (*rc::gen::arbitrary<bool>() ? fmt::format("{:X}", groups[i])
                                             : fmt::format("{:04x}", groups[i]));
    out.leading_zeros |= digits.size() > 4;
    out.text += digits;
  }
  if (dotted) {
    const Spelling tail = SpellV4(groups[6] * 65536u + groups[7], loose);
    out.text += (out.text.ends_with(':') ? "" : ":") + tail.text;
    out.leading_zeros |= tail.leading_zeros;
  }
  return out;
}

/// Picks an address text with a few characters changed. About half of the results are addresses.
std::string PickNearlyAddress() {
  std::string text = *rc::gen::arbitrary<bool>()
                         ? SpellV6(PickGroups(), *rc::gen::arbitrary<bool>()).text
                         : SpellV4(*rc::gen::arbitrary<uint32_t>(), false).text;
  const int edits = *rc::gen::inRange(0, 3);
  for (int i = 0; i < edits && !text.empty(); ++i) {
    const size_t at = *rc::gen::inRange<size_t>(0, text.size());
    const char c = *rc::gen::elementOf(std::string("01259afF::..%/ "));
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        text.erase(at, 1);
        break;
      case 1:
        text.insert(at, 1, c);
        break;
      default:
        text[at] = c;
    }
  }
  return text;
}

/// Parses with the C library, which is as strict as netip.
std::optional<Addr> SystemParse(const std::string& text) {
  std::array<unsigned char, 16> bytes{};
  const bool is_v4 = inet_pton(AF_INET, text.c_str(), bytes.data()) == 1;
  if (!is_v4 && inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return std::nullopt;
  U128 bits = 0;
  for (size_t i = 0; i < (is_v4 ? 4u : 16u); ++i) bits = (bits << 8) | bytes[i];
  return Addr(is_v4 ? Family::kV4 : Family::kV6, bits);
}

std::string SystemText(const Addr& addr) {
  const size_t size = addr.family() == Family::kV4 ? 4 : 16;
  std::array<unsigned char, 16> bytes{};
  for (size_t i = 0; i < size; ++i) {
    bytes[i] = static_cast<unsigned char>(addr.bits() >> (8 * (size - 1 - i)));
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = addr.family() == Family::kV4 ? AF_INET : AF_INET6;
  EXPECT_NE(inet_ntop(family, bytes.data(), text.data(), text.size()), nullptr);
  return text.data();
}

RC_GTEST_PROP(AddrProperty, CanonicalTextIsAcceptedAndReadsBack, ()) {
  const Addr addr = PickAddr();
  const base::Result<Addr> read = ParseAddr(addr.ToString());
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == addr);
}

RC_GTEST_PROP(AddrProperty, EverySpellingReadsAsTheSameAddress, ()) {
  const std::array<uint16_t, 8> groups = PickGroups();
  const U128 bits = Number(groups);
  const Spelling spelling = SpellV6(groups, *rc::gen::arbitrary<bool>());
  RC_LOG() << spelling.text;
  const std::optional<LooseAddr> loose = ParseAddrLoose(spelling.text);
  RC_ASSERT(loose.has_value());
  RC_ASSERT(loose->leading_zeros == spelling.leading_zeros);
  RC_ASSERT(loose->v4_mapped == (bits >> 32 == 0xFFFF));
  const U128 read = loose->addr.bits() | (loose->v4_mapped ? U128{0xFFFF} << 32 : U128{0});
  RC_ASSERT(read == bits);
}

RC_GTEST_PROP(AddrProperty, LeadingZerosOfIpv4AreDecimal, (uint32_t bits)) {
  const Spelling spelling = SpellV4(bits, true);
  const std::optional<LooseAddr> loose = ParseAddrLoose(spelling.text);
  RC_ASSERT(loose.has_value());
  RC_ASSERT(loose->addr == Addr(Family::kV4, bits));
  RC_ASSERT(loose->leading_zeros == spelling.leading_zeros);
}

RC_GTEST_PROP(AddrProperty, ReadsWithoutLeadingZerosExactlyWhatTheSystemReads, ()) {
  const std::string text = PickNearlyAddress();
  RC_LOG() << text;
  const std::optional<LooseAddr> loose = ParseAddrLoose(text);
  const std::optional<Addr> system = SystemParse(text);
  RC_ASSERT(system.has_value() == (loose.has_value() && !loose->leading_zeros));
  const base::Result<Addr> field = ParseAddr(text, Strictness::kLegacyField);
  RC_ASSERT(field.has_value() == (system.has_value() && !loose->v4_mapped));
  if (field) RC_ASSERT(*field == *system);
}

RC_GTEST_PROP(AddrProperty, ReadsWhatTheSystemWrites, ()) {
  const Addr addr = PickAddr();
  const base::Result<Addr> read = ParseAddr(SystemText(addr), Strictness::kLegacyField);
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == addr);
  RC_ASSERT(SystemParse(addr.ToString()) == addr);
}

RC_GTEST_PROP(AddrProperty, StrictReadingsAreAlsoLenientOnes, ()) {
  const std::string text = PickNearlyAddress();
  RC_LOG() << text;
  const base::Result<Addr> canonical = ParseAddr(text);
  const base::Result<Addr> legacy = ParseAddr(text, Strictness::kLegacyField);
  const std::optional<LooseAddr> loose = ParseAddrLoose(text);
  if (canonical) {
    RC_ASSERT(canonical->ToString() == text);
    RC_ASSERT(legacy.has_value());
    RC_ASSERT(*legacy == *canonical);
  }
  if (legacy) {
    RC_ASSERT(loose.has_value());
    RC_ASSERT(loose->addr == *legacy);
  }
}

RC_GTEST_PROP(AddrProperty, DecimalNamesReadBack, ()) {
  const Addr addr = PickAddr();
  const std::optional<std::string> name = addr.DecimalName();
  const bool nameless = addr.family() == Family::kV6 && addr.bits() >> 32 == 0;
  RC_ASSERT(name.has_value() == !nameless);
  if (nameless) return;
  const base::Result<Addr> read = ParseDecimalName(*name);
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == addr);
}

}  // namespace
}  // namespace berth::ip
