#include "api/schema.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "api/core.h"
#include "api/kinds.h"
#include "api/meta.h"

namespace berth::api {
namespace {

void Collect(const Message& message, std::set<const Message*>& into) {
  if (!into.insert(&message).second) return;
  for (const Field& field : message.fields) {
    if (field.message != nullptr) Collect(*field.message, into);
  }
}

std::set<const Message*> MessagesInProtobuf() {
  std::set<const Message*> all;
  for (const Kind* kind : AllKinds()) {
    if (kind->has_protobuf) Collect(*kind->message, all);
  }
  for (const Message* message : {&kStatus, &kDeleteOptions, &kListMeta}) Collect(*message, all);
  return all;
}

std::set<const Message*> AllMessages() {
  std::set<const Message*> all = MessagesInProtobuf();
  for (const Kind* kind : AllKinds()) Collect(*kind->message, all);
  return all;
}

TEST(Schema, NamesAreUniqueAndOrdered) {
  for (const Message* message : AllMessages()) {
    SCOPED_TRACE(message->openapi_name);
    ASSERT_EQ(message->by_name.size(), message->fields.size());
    std::string_view last;
    for (size_t i = 0; i < message->fields.size(); ++i) {
      const Field& field = message->fields[i];
      EXPECT_EQ(message->Find(field.name), &field);
      EXPECT_EQ(message->Find(field.name, i + 1), &field);
      EXPECT_GT(message->fields[message->by_name[i]].name, last);
      last = message->fields[message->by_name[i]].name;
    }
    EXPECT_EQ(message->Find("noSuchField"), nullptr);
  }
}

TEST(Schema, NumbersAreUniqueAndOrderedWhereThereIsProtobuf) {
  for (const Message* message : MessagesInProtobuf()) {
    SCOPED_TRACE(message->openapi_name);
    ASSERT_EQ(message->by_number.size(), message->fields.size());
    uint32_t last = 0;
    for (size_t i = 0; i < message->fields.size(); ++i) {
      const Field& field = message->fields[i];
      EXPECT_EQ(message->FindNumber(field.number), &field);
      EXPECT_GT(message->fields[message->by_number[i]].number, last);
      last = message->fields[message->by_number[i]].number;
    }
    EXPECT_EQ(message->FindNumber(99), nullptr);
  }
}

TEST(Schema, EveryFieldIsDescribedAndFitsItsShape) {
  for (const Message* message : AllMessages()) {
    SCOPED_TRACE(message->openapi_name);
    EXPECT_TRUE(message->description.ends_with('.'));
    for (const Field& field : message->fields) {
      SCOPED_TRACE(field.name);
      EXPECT_TRUE(field.description.ends_with('.'));
      EXPECT_EQ(field.message != nullptr, field.type == Type::kMessage);
      // kubectl explain prints one below the other.
      EXPECT_TRUE(field.message == nullptr || field.description != field.message->description);
      EXPECT_TRUE(field.shape != Shape::kMap || field.type == Type::kString ||
                  field.type == Type::kQuantity);
      EXPECT_TRUE(field.type != Type::kQuantity || field.shape == Shape::kMap);
      EXPECT_TRUE(field.shape != Shape::kMap || field.presence == Presence::kOmitEmpty);
      EXPECT_TRUE(field.shape != Shape::kList || field.presence != Presence::kOmitNil);
      // A message that is not a pointer is a Go struct, which JSON never omits.
      if (field.type == Type::kMessage && field.shape == Shape::kOne) {
        EXPECT_NE(field.presence, Presence::kOmitEmpty);
      }
      EXPECT_EQ(field.list_kind == ListKind::kMap, !field.list_keys.empty());
      std::string_view last_key;  // Field paths name the keys in order.
      for (const ListKey& key : field.list_keys) {
        EXPECT_NE(field.message->Find(key.name), nullptr) << key.name;
        EXPECT_GT(key.name, last_key);
        last_key = key.name;
      }
      if (!field.patch_merge_key.empty()) {
        EXPECT_NE(field.message->Find(field.patch_merge_key), nullptr);
      }
    }
  }
}

TEST(Schema, GoNames) {
  EXPECT_EQ(kServicePort.Name(), "ServicePort");
  EXPECT_EQ(kServicePort.GoType(), "v1.ServicePort");
}

TEST(Kinds, AreFoundByVersionAndKind) {
  for (const Kind* kind : AllKinds()) {
    EXPECT_EQ(FindKind(kind->api_version, kind->kind), kind);
    EXPECT_EQ(kind->api_version, kind->group.empty()
                                     ? std::string(kind->version)
                                     : std::string(kind->group) + "/" + std::string(kind->version));
    EXPECT_EQ(kind->list_kind, std::string(kind->kind) + "List");
    ASSERT_NE(kind->message->Find("metadata"), nullptr);
    EXPECT_EQ(kind->message->Find("metadata")->message, &kObjectMeta);
    EXPECT_TRUE(!kind->has_status || kind->message->Find("status") != nullptr);
    EXPECT_TRUE(std::is_sorted(kind->verbs.begin(), kind->verbs.end()));
  }
  EXPECT_EQ(FindKind("v2", "Service"), nullptr);
  EXPECT_EQ(FindKind("v1", "Lease"), nullptr);
}

}  // namespace
}  // namespace berth::api
