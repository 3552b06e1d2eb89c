#include "codec/range_allocation.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "codec/protobuf.h"

namespace berth::codec {
namespace {

using std::string_literals::operator""s;

/// Returns what kube-apiserver stores for items 0 and 9 of a range.
std::string Golden() {
  return "k8s\0"s                                      //
         "\x0a\x15\x0a\x02v1\x12\x0fRangeAllocation"s  //
         "\x12\x23"s                                   //
         "\x0a\x10\x0a\0\x12\0\x1a\0\x22\0\x2a\0\x32\0\x38\0\x42\0"s
         "\x12\x0b"
         "10.0.0.0/24"
         "\x1a\x02\x02\x01"s
         "\x1a\0\x22\0"s;
}

TEST(RangeAllocationTest, IsWrittenAsKubernetesDoes) {
  const std::string golden = Golden();
  EXPECT_EQ(WriteRangeAllocation("10.0.0.0/24", "\x02\x01"), golden);
  const auto read = ReadRangeAllocation(golden);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->range, "10.0.0.0/24");
  EXPECT_EQ(read->data, "\x02\x01");
}

TEST(RangeAllocationTest, DataIsWrittenEvenWhenThereIsNone) {
  const std::string stored = WriteRangeAllocation("30000-32767", "");
  EXPECT_NE(stored.find("30000-32767\x1a\0\x1a\0\x22\0"s), std::string::npos);
  EXPECT_EQ(ReadRangeAllocation(stored)->data, "");
}

TEST(RangeAllocationTest, OtherDataLeavesTheRestAlone) {
  const std::string longer(300, 'x');
  EXPECT_EQ(WithData(Golden(), longer), WriteRangeAllocation("10.0.0.0/24", longer));
  EXPECT_EQ(WithData(WithData(Golden(), longer), "\x02\x01"), Golden());
  // A field of a newer server.
  const std::string raw = "\x0a\0\x12\x05"s + "range" + "\x1a\x01\x01\x22\x03new"s;
  const std::string newer = WrapEnvelope("v1", "RangeAllocation", raw);
  EXPECT_EQ(WithData(newer, "\x02"),
            WrapEnvelope("v1", "RangeAllocation",
                         "\x0a\0\x12\x05"s + "range" + "\x1a\x01\x02\x22\x03new"s));
  const std::string without = WrapEnvelope("v1", "RangeAllocation", "\x12\x05range");
  EXPECT_EQ(ReadRangeAllocation(without)->data, "");
  EXPECT_EQ(ReadRangeAllocation(WithData(without, "\x04"))->data, "\x04");
}

TEST(RangeAllocationTest, JsonIsReadToo) {
  const auto proto = RangeAllocationToProto(
      R"({"kind":"RangeAllocation","apiVersion":"v1","metadata":{"creationTimestamp":null},)"
      R"("range":"10.0.0.0/24","data":"AgE="})");
  ASSERT_TRUE(proto) << proto.error().message;
  EXPECT_EQ(*proto, Golden());
  EXPECT_EQ(RangeAllocationToProto(Golden()), Golden());
}

TEST(RangeAllocationTest, WhatIsNoneIsRefused) {
  for (const std::string& stored :
       {""s, "garbage"s, "{}"s, "k8s\0"s, "k8s\0\x0a"s,
        WrapEnvelope("v1", "Service", "\x12\x05range"),
        WrapEnvelope("v1", "RangeAllocation", "\x12\x09range"),
        R"({"kind":"RangeAllocation","apiVersion":"v1","range":"x","data":"?"})"s}) {
    EXPECT_FALSE(RangeAllocationToProto(stored)) << stored;
    EXPECT_FALSE(ReadRangeAllocation(stored)) << stored;
  }
}

}  // namespace
}  // namespace berth::codec
