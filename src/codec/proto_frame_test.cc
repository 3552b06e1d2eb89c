#include "codec/proto_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/protobuf.h"

namespace berth::codec {
namespace {

using std::literals::operator""s;

TEST(ProtoFrame, AnEnvelopeInPiecesIsTheWholeOne) {
  for (const size_t size : {0U, 1U, 127U, 128U, 16'383U, 16'384U, 3'000'000U}) {
    const std::string content(size, 'x');
    EXPECT_EQ(EnvelopeHead({.api_version = "v1", .kind = "ServiceList"}, size) + content +
                  std::string(kEnvelopeTail),
              WrapEnvelope("v1", "ServiceList", content))
        << size;
  }
}

TEST(ProtoFrame, AFieldAndItsSize) {
  std::string field;
  AppendProtoField(field, 1, "ab");
  EXPECT_EQ(field,
            "\x0a\x02"
            "ab");
  for (const uint32_t number : {1U, 15U, 16U, 2047U, 2048U}) {
    for (const size_t size : {0U, 127U, 128U, 16'384U}) {
      field.clear();
      AppendProtoField(field, number, std::string(size, 'x'));
      EXPECT_EQ(field.size(), ProtoFieldSize(number, size)) << number << " " << size;
    }
  }
}

// type = 1, object = 2 with raw = 1 in it.
TEST(ProtoFrame, AnEventOfAWatch) {
  EXPECT_EQ(WatchFrame("ADDED", "xyz"),
            "\0\0\0\x0e"
            "\x0a\x05"
            "ADDED"
            "\x12\x05"
            "\x0a\x03"
            "xyz"s);
  const std::string object(300, 'o');
  EXPECT_EQ(WatchFrame("DELETED", object),
            "\0\0\x01\x3b"
            "\x0a\x07"
            "DELETED"
            "\x12\xaf\x02"
            "\x0a\xac\x02"s +
                object);
  EXPECT_EQ(WatchFrame("BOOKMARK", std::string(70'000, 'o')).substr(0, 4), "\x00\x01\x11\x82"s);
}

}  // namespace
}  // namespace berth::codec
