// Applies random patches to random documents, with merge and with the plain model. Both must give
// the same result or an error. Objects and their strategic patches follow the tables of every kind,
// with few different values, so that most patches find something to merge with.
#include "merge/patch_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "base/testing/base_kit.h"
#include "codec/json.h"
#include "codec/testing/codec_kit.h"
#include "merge/json_patch.h"
#include "merge/merge_patch.h"
#include "merge/strategic_merge.h"
#include "merge/strategic_model.h"

namespace berth::merge {
namespace {

using api::Field;
using api::Message;
using api::Shape;
using api::Type;
using codec::Array;
using codec::Object;
using codec::Pick;
using codec::Value;

// Returns how many draws one of rapidcheck's cases makes.
int64_t Draws() { return base::LongCount(500); }

bool OneIn(int times) { return Pick(times) == 0; }

// Returns one of few keys.
std::string SomeKey() { return std::string(1, "abcd"[Pick(4)]); }

// Makes a document with few different keys, so that documents and patches collide.
Value Document(int depth) {
  const int kind = depth == 4 ? 1 + Pick(3) : depth > 0 ? Pick(4) : 0;
  if (kind == 0) return OneIn(5) ? codec::ArbitraryScalar() : Value(Pick(3));
  Value value = kind == 1 ? Value(Array()) : Value(Object());
  for (int i = Pick(4); i > 0; --i) {
    if (kind == 1) {
      value.Append(Document(depth - 1));
    } else {
      value.Set(SomeKey(), Document(depth - 1));
    }
  }
  return value;
}

std::string Shown(const Value& document, const Value& patch) {
  return codec::WriteJson(document) + "\n" + codec::WriteJson(patch);
}

RC_GTEST_PROP(PatchModel, MergePatch, ()) {
  for (int64_t i = 0; i < Draws(); ++i) {
    const Value document = Document(4);
    const Value patch = Document(4);
    Value merged = document;
    ApplyMergePatch(merged, patch);
    const Value expected = model::MergePatch(document, patch);
    if (merged != expected) RC_FAIL(Shown(document, patch) + "\n" + codec::WriteJson(merged));
  }
}

std::string SomeToken(const Value& container) {
  if (const Array* array = container.AsArray()) {
    if (OneIn(8))
      return std::vector{"-", "-1", "-2", "+1", "00", "x"}[static_cast<size_t>(Pick(6))];
    return std::to_string(Pick(static_cast<int>(array->size()) + 1));
  }
  const Object* object = container.AsObject();
  if (object == nullptr || object->empty() || OneIn(4)) return SomeKey();
  return (object->begin() + Pick(static_cast<int>(object->size())))->key;
}

// Returns a pointer, mostly to an existing place.
std::string SomePointer(const Value& document) {
  if (OneIn(20)) return "";
  std::string pointer = OneIn(60) ? "x" : "";
  std::optional<Value> at = document;
  do {
    const std::string token = SomeToken(*at);
    pointer += "/" + token;
    at = model::Got(*at, {token});
  } while (at && (model::IsMap(*at) || model::IsList(*at) || OneIn(20)) && !OneIn(3));
  return pointer;
}

Value SomeOperation(const Value& document) {
  static const std::vector<std::string> ops = {"add", "remove", "replace", "move", "copy", "test"};
  Object operation{{"op", OneIn(100) ? "other" : ops[static_cast<size_t>(Pick(6))]},
                   {"path", SomePointer(document)},
                   {"from", SomePointer(document)}};
  const auto there = model::Tokens(*operation.Find("path")->AsString());
  const auto value = !OneIn(4) && there ? model::Got(document, *there) : std::nullopt;
  if (!OneIn(30)) operation.Set("value", value.value_or(Document(2)));
  if (OneIn(100)) operation.Erase("path");
  return operation;
}

// How many of the patches could be applied. If all or none can, the test proves little.
struct Share {
  int64_t applied = 0;
  int64_t all = 0;

  void Count(bool success) {
    ++all;
    if (success) ++applied;
  }
  void Check() const {
    EXPECT_GT(applied, all / 4) << all;
    EXPECT_LT(applied, all * 9 / 10) << all;
  }
};

TEST(PatchModel, JsonPatch) {
  Share share;
  EXPECT_TRUE(rc::check([&] {
    for (int64_t i = 0; i < Draws(); ++i) {
      Value document = Document(4);
      Array operations;
      Value now = document;  // Later operations find what earlier ones have made.
      for (int length = 1 + Pick(4); length > 0; --length) {
        operations.push_back(SomeOperation(now));
        now = model::JsonPatch(now, {operations.back()}).value_or(now);
      }
      const auto expected = model::JsonPatch(document, operations);
      const std::string shown = Shown(document, operations);
      const auto patch = ReadJsonPatch(operations);
      RC_ASSERT(patch.has_value());
      const bool applied = ApplyJsonPatch(document, *patch).has_value();
      if (applied != expected.has_value()) RC_FAIL(shown + (applied ? " applied" : " refused"));
      if (applied && document != *expected) RC_FAIL(shown + "\n" + codec::WriteJson(document));
      share.Count(applied);
    }
  }));
  share.Check();
}

// Returns a value of a field's type, out of few.
Value Simple(const Field& field) {
  switch (field.type) {
    case Type::kBool:
      return OneIn(2);
    case Type::kInt32:
    case Type::kInt64:
      return 1 + Pick(3);
    default:
      return SomeKey();
  }
}

// Returns the value of one entry of a field in a document, or with `patch` in a patch.
Value Entry(const Field& field, bool patch);

Value Map(const Message& message, bool patch);

Value Entries(const Field& field, bool patch) {
  Array list;
  for (int i = Pick(5); i > 0; --i) list.push_back(Entry(field, patch));
  return list;
}

Value Strings(bool patch) {
  Object map;
  for (int i = Pick(4); i > 0; --i) {
    map.Set(SomeKey(), patch && OneIn(4) ? Value(nullptr) : Value(SomeKey()));
  }
  return map;
}

Value Entry(const Field& field, bool patch) {
  if (field.type == Type::kMessage) return Map(*field.message, patch);
  return patch && OneIn(60) ? Document(1) : Simple(field);
}

Value Content(const Field& field, bool patch) {
  if (field.shape == Shape::kList) return Entries(field, patch);
  return field.shape == Shape::kMap ? Strings(patch) : Entry(field, patch);
}

Value Directive() {
  static const std::vector<const char*> all = {"delete", "delete", "delete", "replace"};
  return OneIn(20) ? "merge" : all[static_cast<size_t>(Pick(4))];
}

// Returns the keys of a list in its order, with some added and some removed.
Value OrderOf(const Field& field, const Value* list) {
  Array order;
  for (const Value& element : list == nullptr || !list->AsArray() ? Array() : *list->AsArray()) {
    if (OneIn(8)) order.push_back(Entry(field, false));
    if (OneIn(15) || (element.Find("$patch") != nullptr && !OneIn(4))) continue;
    if (field.patch_merge_key.empty()) {
      order.push_back(element);
    } else if (const Value* key = element.Find(field.patch_merge_key)) {
      order.push_back(Object{{std::string(field.patch_merge_key), *key}});
    }
  }
  while (OneIn(2)) order.push_back(Entry(field, false));
  return order;
}

void AddDirectives(Object& map, const Message& message) {
  for (const Field& field : message.fields) {
    if (field.shape != Shape::kList) continue;
    const std::string name(field.name);
    if (OneIn(3)) map.Set("$setElementOrder/" + name, OrderOf(field, map.Find(name)));
    if (field.type != Type::kMessage && OneIn(3)) {
      map.Set("$deleteFromPrimitiveList/" + name, Entries(field, false));
    }
  }
  if (OneIn(10)) {
    Array keys;
    for (const codec::Member& member : map) {
      if (!OneIn(15)) keys.push_back(member.key);
    }
    for (const Field& field : message.fields) {
      if (OneIn(3)) keys.push_back(std::string(field.name));
    }
    map.Set("$retainKeys", keys);
  }
}

// Returns whether to include a field. Fields that can be merged are included most often.
bool IsThere(const Field& field, bool patch) {
  const bool is_key = field.name == "port" || field.name == "uid" || field.name == "type";
  if (is_key) return !OneIn(patch ? 40 : 100);
  if (field.type == Type::kMessage || field.patch_strategy == "merge") return !OneIn(5);
  return OneIn(patch ? 5 : 3);
}

Value Map(const Message& message, bool patch) {
  Object map;
  for (const Field& field : message.fields) {
    if (!IsThere(field, patch)) continue;
    Value content = Content(field, patch);
    if (patch && OneIn(25)) content = nullptr;
    if (patch && OneIn(100)) content = Document(2);
    map.Set(std::string(field.name), std::move(content));
  }
  if (patch && OneIn(2)) AddDirectives(map, message);
  if (patch && OneIn(15)) map.Set("$patch", Directive());
  return map;
}

TEST(PatchModel, StrategicMerge) {
  Share share;
  EXPECT_TRUE(rc::check([&] {
    for (int64_t i = 0; i < Draws(); ++i) {
      const auto kinds = api::AllKinds();
      const auto picked = static_cast<size_t>(Pick(static_cast<int>(kinds.size())));
      const Message& message = *kinds[picked]->message;
      Value document = Map(message, false);
      Value patch = Map(message, true);
      patch.AsObject()->Erase("$patch");
      const auto expected = model::Strategic(document, patch, &message);
      const std::string shown = Shown(document, patch);
      const auto done = ApplyStrategicMerge(document, patch, message);
      if (done.has_value() != expected.has_value()) {
        RC_FAIL(shown + "\n" + (done ? "merged" : done.error().message));
      }
      if (done.has_value() && document != *expected) {
        RC_FAIL(shown + "\n" + Shown(document, *expected));
      }
      share.Count(done.has_value());
    }
  }));
  share.Check();
}

}  // namespace
}  // namespace berth::merge
