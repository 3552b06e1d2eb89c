#include "codec/list_read.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/meta.h"
#include "codec/json.h"
#include "codec/proto_frame.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "codec/testing_text.h"

namespace berth::codec {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct ListRead {
  base::Result<ListHead> head;
  std::vector<std::string> names = {};
  std::vector<Value> objects = {};
};

ListRead ReadList(std::string_view text, const api::Message* message = api::kServiceKind.message) {
  ListRead read;
  read.head = ReadJsonList(text, message, [&](Value object) {
    read.names.emplace_back(StringAt(object, "metadata", "name"));
    read.objects.push_back(std::move(object));
  });
  return read;
}

TEST(ListRead, ReadsJsonObjectByObject) {
  const ListRead read = ReadList(
      R"( {"kind":"ServiceList", "extra":{"items":[1]}, "items": [ {"metadata":{"name":"a","labels":)"
      R"({"x":"]}\"\\"}},"spec":{"ports":[{"port":80}]}} , {"metadata":{"name":"b"}} ],)"
      R"("metadata":{"resourceVersion":"7","continue":"more","remainingItemCount":3},"apiVersion":"v1"} )");
  ASSERT_TRUE(read.head.has_value()) << read.head.error().message;
  EXPECT_EQ(*read.head, (ListHead{.api_version = "v1",
                                  .kind = "ServiceList",
                                  .resource_version = "7",
                                  .continue_token = "more"}));
  EXPECT_THAT(read.names, ElementsAre("a", "b"));
  EXPECT_EQ(StringAt(read.objects[0], "metadata", "labels", "x"), "]}\"\\");
  EXPECT_EQ(ReadList(R"({"items":null})").names.size(), 0U) << "Go writes null for no items";
  EXPECT_TRUE(ReadList(R"({"items":[]})").head.has_value());
}

TEST(ListRead, ReturnsPlainDocumentsWithoutAMessage) {
  const ListRead read = ReadList(R"({"items":[{"kind":"Pod","any":{"thing":1}}]})", nullptr);
  ASSERT_EQ(read.objects.size(), 1U);
  EXPECT_EQ(read.objects[0], Json("{'kind':'Pod','any':{'thing':1}}"));
}

TEST(ListRead, SaysWhatIsWrongWithJson) {
  const auto error = [](std::string_view text) { return ReadList(text).head.error().message; };
  EXPECT_THAT(error(""), HasSubstr("does not begin with {"));
  EXPECT_THAT(error("<html>"), HasSubstr("does not begin with {"));
  EXPECT_THAT(error("{}"), HasSubstr("no items"));
  EXPECT_THAT(error(R"({"items":{}})"), HasSubstr("not an array"));
  EXPECT_THAT(error(R"({"items":[{}]} x)"), HasSubstr("more text"));
  EXPECT_THAT(error(R"({"items":[{"metadata":{"name":"a"}},{"metadata":3}]})"),
              HasSubstr("item 1 of the list"));
  EXPECT_THAT(error(R"({"items":[3]})"), HasSubstr("item 0 of the list: it is not an object"));
  const std::string whole = R"({"kind":"L","items":[{"metadata":{"name":"a"}}],"metadata":{}})";
  ASSERT_TRUE(ReadList(whole).head.has_value());
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(ReadList(whole.substr(0, size)).head.has_value()) << size;
  }
}

TEST(ListRead, ReadsProtobufAsTheSameObjects) {
  const std::string text =
      R"({"items":[{"metadata":{"name":"a","uid":"u"},"spec":{"clusterIP":"10.0.0.1"}},)"
      R"({"metadata":{"name":"b"}}],"metadata":{"resourceVersion":"7","continue":"more"}})";
  const ListRead json = ReadList(text);
  ASSERT_EQ(json.objects.size(), 2U);
  const api::Message& message = *api::kServiceKind.message;
  std::string raw;
  AppendProtoField(raw, 1,
                   EncodeProto(Json("{'resourceVersion':'7','continue':'more'}"), api::kListMeta));
  for (const Value& object : json.objects) AppendProtoField(raw, 2, EncodeProto(object, message));
  const std::string bytes = WrapEnvelope("v1", "ServiceList", raw);
  std::vector<Value> objects;
  const auto head =
      ReadProtobufList(bytes, message, [&](Value object) { objects.push_back(std::move(object)); });
  ASSERT_TRUE(head.has_value()) << head.error().message;
  EXPECT_EQ(head->kind, "ServiceList");
  EXPECT_EQ(head->resource_version, "7");
  EXPECT_EQ(head->continue_token, "more");
  EXPECT_EQ(objects, json.objects);
  const auto cut = ReadProtobufList(bytes.substr(0, bytes.size() - 10), message, [](Value) {});
  EXPECT_FALSE(cut.has_value());
}

}  // namespace
}  // namespace berth::codec
