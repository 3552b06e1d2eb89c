#include "store/rocks/rocks_layout.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <string_view>

namespace berth::store::rocks {
namespace {

using namespace std::string_literals;
using std::string_view_literals::operator""sv;

TEST(Layout, TheExampleOfTheHeader) {
  EXPECT_EQ(DataKey("/a", {258}), "\x2f\x61\x00\xff\xff\xff\xff\xff\xff\xfe\xfd"s);
  std::string version;
  AppendVersionHead(version, Op::kPut, 0);
  EXPECT_EQ(version + "x", "\x01\x00\x78"s);
  EXPECT_EQ(View(EncodeRevision({258})), "\x00\x00\x00\x00\x00\x00\x01\x02"sv);
  std::string record;
  AppendLogEvent(record, {.op = Op::kPut, .previous = {7}, .key = "/a"});
  EXPECT_EQ(record, "\x01\x07\x02\x2f\x61"s);
}

TEST(Layout, NewVersionsComeFirstAndKeysStayTogether) {
  EXPECT_LT(DataKey("/a", {2}), DataKey("/a", {1}));
  EXPECT_LT(DataKey("/a", {1}), DataKey("/a\x01", {INT64_MAX}));
  EXPECT_LT(DataKey("/a", {1}), DataKey("/a/b", {INT64_MAX}));
  EXPECT_LT(DataKey("/a/b", {1}), DataKey("/b", {INT64_MAX}));
  EXPECT_LT(DataKey("/a", {1}), DataKey("/a\xff", {1}));
}

TEST(Layout, ALogRecordIsReadEventByEvent) {
  std::string bytes;
  AppendLogEvent(bytes, {.op = Op::kPut, .previous = {}, .key = "/a"});
  AppendLogEvent(bytes, {.op = Op::kDelete, .previous = {1000}, .key = std::string(300, 'k')});
  LogRecord record({1001}, bytes);
  EXPECT_EQ(record.NextRevision().value, 1001);
  EXPECT_EQ(record.Take()->key, "/a");
  EXPECT_EQ(record.NextRevision().value, 1002);
  const auto second = record.Take();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->op, Op::kDelete);
  EXPECT_EQ(second->previous.value, 1000);
  EXPECT_EQ(second->key, std::string(300, 'k'));
  EXPECT_TRUE(record.AtEnd());
  // A record that is cut anywhere except between events is malformed.
  for (size_t length = 1; length < bytes.size(); ++length) {
    LogRecord cut({1001}, std::string_view(bytes).substr(0, length));
    bool well_formed = true;
    while (well_formed && !cut.AtEnd()) well_formed = cut.Take().has_value();
    EXPECT_EQ(well_formed, length == 5) << length;
  }
}

TEST(Layout, BadBytesAreNotRead) {
  EXPECT_FALSE(DecodeDataKey(""));
  EXPECT_FALSE(DecodeDataKey("\x00\xff\xff\xff\xff\xff\xff\xff\xfe"sv)) << "no key";
  EXPECT_FALSE(DecodeDataKey("/a\x01\xff\xff\xff\xff\xff\xff\xff\xfe"sv)) << "no NUL";
  EXPECT_FALSE(DecodeDataKey("/a\x00\xff\xff\xff\xff\xff\xff\xff\xff"sv)) << "revision 0";
  EXPECT_FALSE(DecodeVersion(""));
  EXPECT_FALSE(DecodeVersion("\x03\x00"sv)) << "no such operation";
  EXPECT_FALSE(DecodeVersion("\x01\x80"sv)) << "number without an end";
  EXPECT_FALSE(DecodeRevision("\xff\xff\xff\xff\xff\xff\xff\xff"sv)) << "negative";
  EXPECT_FALSE(DecodeRevision("short"));
  EXPECT_FALSE(DecodeExpiryKey("short"));
  EXPECT_FALSE(DecodeSample("format", "1"));
}

RC_GTEST_PROP(Layout, DataKeysSortByKeyThenNewestFirst, ()) {
  const auto key = rc::gen::nonEmpty(rc::gen::string<std::string>());
  const auto a = *rc::gen::suchThat(
      key, [](const std::string& k) { return k.find('\0') == std::string::npos; });
  const auto b = *rc::gen::suchThat(
      key, [](const std::string& k) { return k.find('\0') == std::string::npos; });
  const auto i = *rc::gen::inRange<int64_t>(1, INT64_MAX);
  const auto j = *rc::gen::inRange<int64_t>(1, INT64_MAX);
  RC_ASSERT((DataKey(a, {i}) < DataKey(b, {j})) == (a == b ? i > j : a < b));
  const std::string bytes = DataKey(a, {i});
  const auto name = DecodeDataKey(bytes);
  RC_ASSERT(name.has_value());
  RC_ASSERT(name->key == a);
  RC_ASSERT(name->revision.value == i);
}

RC_GTEST_PROP(Layout, WhatIsWrittenIsRead, (const std::string& value, const std::string& key)) {
  const auto deadline = *rc::gen::inRange<int64_t>(0, INT64_MAX);
  std::string bytes;
  AppendVersionHead(bytes, Op::kPut, deadline);
  bytes += value;
  const auto version = DecodeVersion(bytes);
  RC_ASSERT(version.has_value());
  RC_ASSERT(version->deadline == deadline);
  RC_ASSERT(version->value == value);

  const std::string row = ExpiryKey({.at = deadline, .key = key});
  RC_ASSERT(DecodeExpiryKey(row)->at == deadline);
  RC_ASSERT(DecodeExpiryKey(row)->key == key);

  const Sample sample{.time = deadline,
                      .revision = {*rc::gen::inRange<int64_t>(0, INT64_MAX)},
                      .bytes = *rc::gen::arbitrary<uint64_t>(),
                      .keys = *rc::gen::arbitrary<uint64_t>()};
  RC_ASSERT(DecodeSample(SampleKey(sample.time), EncodeSample(sample)) == sample);
}

}  // namespace
}  // namespace berth::store::rocks
