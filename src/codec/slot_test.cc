#include "codec/slot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/json.h"
#include "codec/testing/codec_kit.h"

namespace berth::codec {
namespace {

using std::string_literals::operator""s;

constexpr std::string_view kServiceKey = "/registry/services/specs/shop/web";

std::string Written(std::string value, int slot, std::string_view key = kServiceKey) {
  EXPECT_EQ(WriteSlot(key, value, slot), slot);
  return value;
}

std::string Cleared(std::string value, std::string_view key = kServiceKey) {
  ClearSlot(key, value);
  return value;
}

/// Expects a value of neither form to be left unchanged, with slot 0.
void ExpectLeftAlone(const std::string& value) {
  std::string copy = value;
  EXPECT_EQ(WriteSlot(kServiceKey, copy, 7), 0) << value;
  EXPECT_EQ(copy, value);
  EXPECT_EQ(ReadSlot(kServiceKey, value), 0) << value;
  EXPECT_EQ(Cleared(value), value);
}

// --- protobuf ------------------------------------------------------------------------------------

std::string Varint(uint64_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  return out += static_cast<char>(number);
}

std::string Bytes(uint64_t number, std::string_view content) {
  return Varint(number << 3 | 2) + Varint(content.size()) + std::string(content);
}

std::string Number(uint64_t number, uint64_t value) { return Varint(number << 3) + Varint(value); }

std::string Envelope(std::string_view raw) {
  return "k8s\0"s + Bytes(1, Bytes(1, "v1") + Bytes(2, "Service")) + Bytes(2, raw) + Bytes(3, "") +
         Bytes(4, "");
}

/// Returns metadata as Kubernetes writes it, except for the resourceVersion.
std::string Metadata(std::string_view name, std::optional<std::string> version) {
  return Bytes(1, name) + Bytes(2, "") + Bytes(3, "shop") + Bytes(4, "") +
         Bytes(5, "0d0b6a5e-1111-4222-8333-944455566677") + (version ? Bytes(6, *version) : "") +
         Number(7, 1) + Bytes(8, Number(1, 1'762'000'000) + Number(2, 0));
}

std::string Service(std::string_view name, std::optional<std::string> version) {
  return Envelope(Bytes(1, Metadata(name, std::move(version))) + Bytes(2, Bytes(3, "10.96.0.7")) +
                  Bytes(3, Bytes(1, "")));
}

TEST(SlotProtoTest, IsWrittenInPlace) {
  for (const int slot : {0, 7, 42, 999, 2000}) {
    const std::string wanted = Service("web", std::to_string(slot));
    EXPECT_EQ(Written(Service("web", ""), slot), wanted);
    EXPECT_EQ(Written(Service("web", "1234"), slot), wanted);
    EXPECT_EQ(ReadSlot(kServiceKey, wanted), slot);
    EXPECT_EQ(Cleared(wanted), Service("web", ""));
  }
}

TEST(SlotProtoTest, AMissingFieldGoesWhereItBelongs) {
  EXPECT_EQ(Written(Service("web", std::nullopt), 5), Service("web", "5"));
  EXPECT_EQ(Written(Envelope(""), 5), Envelope(Bytes(1, Bytes(6, "5"))));
  EXPECT_EQ(Written(Envelope(Bytes(1, "")), 5), Envelope(Bytes(1, Bytes(6, "5"))));
  EXPECT_EQ(Written(Envelope(Bytes(2, "spec")), 5),
            Envelope(Bytes(1, Bytes(6, "5")) + Bytes(2, "spec")));
  EXPECT_EQ(Written(Envelope(Bytes(1, Bytes(1, "web"))), 5),
            Envelope(Bytes(1, Bytes(1, "web") + Bytes(6, "5"))));
  const std::string typed = "k8s\0"s + Bytes(1, "");
  const std::string added = Bytes(2, Bytes(1, Bytes(6, "5")));
  EXPECT_EQ(Written(typed + Bytes(3, ""), 5), typed + added + Bytes(3, ""));
  EXPECT_EQ(Written("k8s\0"s, 5), "k8s\0"s + added);
}

TEST(SlotProtoTest, LengthsGrowAndShrinkByAByte) {
  // The three enclosing lengths reach 128 and 16,384 one after the other.
  for (size_t size = 100; size < 16'500; size = size < 200 || size >= 16'300 ? size + 1 : 16'300) {
    const std::string name(size, 'x');
    EXPECT_EQ(Written(Service(name, ""), 2000), Service(name, "2000"));
    EXPECT_EQ(Cleared(Service(name, "2000")), Service(name, ""));
  }
}

TEST(SlotProtoTest, FieldsOutOfOrderAndUnknownOnesStay) {
  const std::string before = Number(2000, 5) + Bytes(9, "future");
  const std::string after = Varint(11 << 3 | 1) + "12345678" + Varint(12 << 3 | 5) + "1234";
  const auto value = [&](std::string_view version) {
    return Envelope(Bytes(3, "status") + Bytes(1, before + Bytes(6, version) + after) +
                    Bytes(2, "spec"));
  };
  EXPECT_EQ(Written(value("31"), 1999), value("1999"));
}

TEST(SlotProtoTest, OfAFieldGivenTwiceTheLastCounts) {
  const auto value = [](std::string_view version) {
    return Envelope(Bytes(1, Bytes(6, "1")) + Bytes(1, Bytes(6, "2") + Bytes(6, version)));
  };
  EXPECT_EQ(ReadSlot(kServiceKey, value("3")), 3);
  EXPECT_EQ(Written(value("3"), 4), value("4"));
}

TEST(SlotProtoTest, WhatIsNoEnvelopeIsLeftAlone) {
  const std::string whole = Service("web", "7");
  const size_t raw_at = whole.find("Service") + 7;
  for (size_t size = 5; size < whole.size() - 4; ++size) {
    if (size != raw_at) ExpectLeftAlone(whole.substr(0, size));
  }
  ExpectLeftAlone("k8s\0"s + Number(2, 5));                             // raw is a number
  ExpectLeftAlone(Envelope(Bytes(1, Number(6, 7))));                    // so is the version
  ExpectLeftAlone("k8s\0"s + Bytes(0, ""));                             // field 0
  ExpectLeftAlone("k8s\0"s + Varint(5 << 3 | 3) + Varint(5 << 3 | 4));  // a group
  ExpectLeftAlone("k8s\0"s + Varint(2 << 3 | 2) + std::string(9, '\xff') + "\x01"s);
  ExpectLeftAlone("k8s\0"s + Varint(2 << 3 | 2) + std::string(11, '\xff'));
  ExpectLeftAlone("k8s:enc:aescbc:v1:key:...");
}

RC_GTEST_PROP(SlotProtoPropertyTest, OnlyTheVersionChanges, ()) {
  const auto field = [] {
    const auto number = static_cast<uint64_t>(std::vector{7, 8, 11, 17, 300}[size_t(Pick(5))]);
    return Pick(2) == 0 ? Number(number, *rc::gen::arbitrary<uint64_t>())
                        : Bytes(number, std::string(size_t(Pick(300)), 'x'));
  };
  const auto fields = [&] {
    std::string out;
    for (int i = Pick(4); i > 0; --i) out += field();
    return out;
  };
  const std::string first = Bytes(1, std::string(size_t(Pick(200)), 'n'));
  const std::string rest = fields();
  const std::string spec = fields();
  const auto value = [&](std::string_view version) {
    return Envelope(Bytes(1, first + Bytes(6, version) + rest) + spec);
  };
  const int slot = Pick(kMaxObjectSlot + 1);
  std::string written = value(std::to_string(*rc::gen::arbitrary<uint16_t>()));
  RC_ASSERT(WriteSlot(kServiceKey, written, slot) == slot);
  RC_ASSERT(written == value(std::to_string(slot)));
  RC_ASSERT(ReadSlot(kServiceKey, written) == slot);
  ClearSlot(kServiceKey, written);
  RC_ASSERT(written == value(""));
}

// --- JSON ----------------------------------------------------------------------------------------

TEST(SlotJsonTest, IsWrittenInPlace) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({"kind":"IPRange","metadata":{"name":"a","resourceVersion":")", R"("},"spec":{}})"},
      {R"( { "metadata" : { "resourceVersion" : ")", "\" , \"x\":1}\n}\n"},
      {R"({"spec":{"metadata":{"resourceVersion":"1"}},"metadata":{"resourceVersion":")", "\"}}"},
      {R"({"a":["{","}]",{"metadata":1}],"b":"\"\\","metadata":{"resourceVersion":")", "\"}}"},
      {R"({"a":-1.5e3,"b":true,"c":null,"metadata":{"n":"\"}","resourceVersion":")", "\"}}"},
      {R"({"metadata":{"annotations":{"resourceVersion":"9"},"resourceVersion":")", "\"}}"},
      {R"({"m\u0065tadata":{"resource\u0056ersion":")", "\"}}"},
      {R"({"Metadata":{"resourceVersion":"1"},"metadata":{"resourceVersion":")", "\"}}"},
  };
  for (const auto& [before, after] : rows) {
    const std::string wanted = fmt::format("{}42{}", before, after);
    for (const std::string old : {"", "5", "1999", R"(\u0031)", "x y"}) {
      EXPECT_EQ(Written(fmt::format("{}{}{}", before, old, after), 42), wanted);
    }
    EXPECT_EQ(ReadSlot(kServiceKey, wanted), 42);
    EXPECT_EQ(Cleared(wanted), before + after);
  }
}

TEST(SlotJsonTest, AMissingFieldIsAdded) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {R"({})", R"({"metadata":{"resourceVersion":"7"}})"},
      {R"({ "a":1})", R"({"metadata":{"resourceVersion":"7"}, "a":1})"},
      {R"({"metadata":{}})", R"({"metadata":{"resourceVersion":"7"}})"},
      {R"({"metadata": { "a":1}})", R"({"metadata": {"resourceVersion":"7", "a":1}})"},
  };
  for (const auto& [value, wanted] : rows) {
    EXPECT_EQ(Written(value, 7), wanted);
    EXPECT_EQ(Cleared(wanted), Cleared(value));
    EXPECT_TRUE(ParseJson(Cleared(value)).has_value());
  }
}

TEST(SlotJsonTest, OfAFieldGivenTwiceTheFirstCounts) {
  EXPECT_EQ(
      Written(R"({"metadata":{"resourceVersion":"1","resourceVersion":"2"},"metadata":{}})", 7),
      R"({"metadata":{"resourceVersion":"7","resourceVersion":"2"},"metadata":{}})");
}

TEST(SlotJsonTest, WhatIsNoObjectIsLeftAlone) {
  for (const std::string value : {"",
                                  " ",
                                  "{",
                                  "}",
                                  "[]",
                                  "null",
                                  "\"x\"",
                                  "7",
                                  "k8s",
                                  "\xff\xfe",
                                  "{\"a\"",
                                  "{\"a\":",
                                  "{\"a\":1",
                                  "{\"a\":1,",
                                  "{\"a\":1,}",
                                  "{\"a\" 1}",
                                  "{a:1}",
                                  "{\"a\":}",
                                  "{\"a\":1]",
                                  R"({"metadata":null})",
                                  R"({"metadata":"x"})",
                                  R"({"metadata":[]})",
                                  R"({"metadata":{)",
                                  R"({"metadata":{"resourceVersion":7}})",
                                  R"({"metadata":{"resourceVersion":null}})",
                                  R"({"metadata":{"resourceVersion":"7)",
                                  R"({"metadata":{"resourceVersion":"7\")",
                                  R"({"metadata":{"resourceVersion")",
                                  "{\"a\":\"\\"}) {
    ExpectLeftAlone(value);
  }
}

RC_GTEST_PROP(SlotJsonPropertyTest, OnlyTheVersionChanges, ()) {
  for (int64_t draws = DrawsPerCase(); draws > 0; --draws) {
    Value value = ArbitraryValue(3);
    value.Set("kind", ArbitraryText());
    if (Pick(4) > 0) {
      Value metadata = Object();
      for (int i = Pick(3); i > 0; --i) metadata.Set(ArbitraryText(), ArbitraryValue(2));
      if (Pick(2) == 0) metadata.Set("resourceVersion", ArbitraryText());
      metadata.Set("uid", "x");
      value.Set("metadata", std::move(metadata));
    }
    if (Pick(2) == 0) value.Set("spec", ArbitraryValue(3));
    std::string text = WriteJson(value, {.indent = Pick(3)});
    const std::string cleared = Cleared(text);
    const int slot = Pick(kMaxObjectSlot + 1);
    RC_ASSERT(WriteSlot(kServiceKey, text, slot) == slot);
    RC_ASSERT(ReadSlot(kServiceKey, text) == slot);
    Value wanted = value;
    if (wanted.Find("metadata") == nullptr) wanted.Set("metadata", Object());
    wanted.Find("metadata")->Set("resourceVersion", std::to_string(slot));
    const auto read = ParseJson(text);
    RC_ASSERT(read.has_value());
    RC_ASSERT(*read == wanted);
    ClearSlot(kServiceKey, text);
    RC_ASSERT(text == cleared);
  }
}

// --- keys ----------------------------------------------------------------------------------------

TEST(SlotKeyTest, KeysWithoutApiObjectsHaveTheirOwn) {
  const std::vector<std::pair<std::string, int>> rows = {
      {"/registry/berth.io/mode", 2047},
      {"/registry/berth.io/fence/ipv4", 2046},
      {"/registry/berth.io/fence/ipv6", 2045},
      {"/registry/berth.io/fence/nodeports", 2044},
      {"/registry/berth.io/fence/other", 2040},
      {"/registry/ranges/serviceips", 2039},
      {"/registry/ranges/secondaryserviceips", 2038},
      {"/registry/ranges/servicenodeports", 2037},
      {"/registry/berth.io/compact", 2036},
      {"/registry/berth.io/tick", 2035},
      {"/registry/berth.io/fence/process/1f", 2034},
      {"/registry/berth.io/replicas/1f", 2033},
      {"/registry/berth.io/modesty", 2032},
      {"/registry/berth.io/", 2032},
  };
  for (const auto& [key, slot] : rows) {
    for (const std::string& value : {Service("web", "7"), std::string(R"({"metadata":{}})")}) {
      std::string copy = value;
      EXPECT_EQ(WriteSlot(key, copy, 3), slot) << key;
      EXPECT_EQ(ReadSlot(key, value), slot) << key;
      ClearSlot(key, copy);
      EXPECT_EQ(copy, value) << key;
    }
  }
  for (const std::string_view key : {"/registry/berth.ioo", "/registry/ranges/other", "a", ""}) {
    EXPECT_EQ(Written(Service("web", ""), 9, key), Service("web", "9")) << key;
  }
}

TEST(SlotReadTest, NonsenseIsZero) {
  for (const std::string text : {"", "2001", "99999999999999999999", "07", "-1", "+1", " 1", "1 ",
                                 "1.0", "0x1", "one", "\xff"}) {
    EXPECT_EQ(ReadSlot(kServiceKey, Service("web", text)), 0) << text;
    EXPECT_EQ(ReadSlot(kServiceKey, R"({"metadata":{"resourceVersion":")" + text + "\"}}"), 0)
        << text;
  }
}

}  // namespace
}  // namespace berth::codec
