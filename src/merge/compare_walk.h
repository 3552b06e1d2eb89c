// The walk over two states of an object that finds the fields in which they differ, in the order in
// which field sets are written. For use inside merge.
#pragma once

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "merge/compare.h"
#include "merge/field_types.h"
#include "merge/path_element.h"

namespace berth::merge {

/// The parts of a PathElement. Most never have to become one.
struct Step {
  std::string_view name = {};            // For a field,
  const PathElement* element = nullptr;  // or for an entry of a list.
  bool from_table = false;               // A field of a struct, whose name needs no escapes.

  PathElement ToElement() const { return element == nullptr ? PathElement::Field(name) : *element; }
};

/// Calls `sink`, which has
///   void Enter(const Step&), Leave();              into a struct, map or list and out of it
///   void ChangedHere(), RemovedHere();             the current one is new or no longer exists;
///                                                  before its contents; never for the object
///   void Changed(const Step&), Removed(const Step&);  something in the current one
template <typename Sink>
class CompareWalk {
 public:
  using Value = codec::Value;
  using Form = FieldType::Form;

  CompareWalk(const CompareOptions& options, Sink& sink)
      : layout_(options.layout), skip_(options.skip), sink_(sink) {}

  void Run(const Value& before, const Value& after, const api::Message& message) {
    Inside(&before, &after, ObjectType(message));
  }

 private:
  struct Entry {
    PathElement element;
    const Value* value;

    static bool IsBefore(const Entry& a, const Entry& b) { return a.element < b.element; }
  };
  using Entries = std::vector<Entry>;

  // A value is null if it is absent.
  void Visit(const Step& step, const Value* before, const Value* after, const FieldType& type) {
    if (before == after || (before != nullptr && after != nullptr && *before == *after)) return;
    if (type.atomic) {
      if (after != nullptr) {
        sink_.Changed(step);
      } else {
        sink_.Removed(step);
      }
      return;
    }
    sink_.Enter(step);
    if (before == nullptr) sink_.ChangedHere();
    if (after == nullptr) sink_.RemovedHere();
    // Empty and null are different.
    if (before != nullptr && after != nullptr && IsEmpty(*before, type) && IsEmpty(*after, type)) {
      sink_.ChangedHere();
    }
    ++depth_;
    Inside(before, after, type);
    --depth_;
    sink_.Leave();
  }

  void Inside(const Value* before, const Value* after, const FieldType& type) {
    switch (type.form) {
      case Form::kStruct:
        return Struct(before, after, *type.message);
      case Form::kMap:
        return Map(before, after);
      case Form::kList:
        return List(before, after, *type.field);
      case Form::kScalar:
        return;
    }
  }

  bool IsEmpty(const Value& value, const FieldType& type) const {
    if (const codec::Array* array = value.AsArray()) return array->empty();
    const codec::Object* object = value.AsObject();
    if (object == nullptr) return true;
    if (!object->empty()) return false;
    return type.form != Form::kStruct || layout_ == Layout::kDocument ||
           std::none_of(
               type.message->fields.begin(), type.message->fields.end(),
               [](const api::Field& field) { return field.presence == api::Presence::kAlways; });
  }

  bool IsSkipped(std::string_view name) const {
    return depth_ == 0 && std::find(skip_.begin(), skip_.end(), name) != skip_.end();
  }

  void Struct(const Value* before, const Value* after, const api::Message& message) {
    const Members old_members(before, message, layout_);
    const Members new_members(after, message, layout_);
    for (const size_t position : message.by_name) {
      const Value* old_value = old_members.At(position);
      const Value* new_value = new_members.At(position);
      if (old_value == new_value) continue;
      const api::Field& field = message.fields[position];
      if (IsSkipped(field.name)) continue;
      Visit({.name = field.name, .from_table = true}, old_value, new_value, TypeOf(field));
    }
  }

  static std::vector<const codec::Member*> ByKey(const Value* value) {
    std::vector<const codec::Member*> members;
    const codec::Object* object = value == nullptr ? nullptr : value->AsObject();
    if (object == nullptr) return members;
    members.reserve(object->size());
    for (const codec::Member& member : *object) members.push_back(&member);
    std::sort(members.begin(), members.end(),
              [](const codec::Member* a, const codec::Member* b) { return a->key < b->key; });
    return members;
  }

  // Compares maps of strings.
  void Map(const Value* before, const Value* after) {
    const std::vector<const codec::Member*> old_members = ByKey(before);
    const std::vector<const codec::Member*> new_members = ByKey(after);
    const FieldType type{.form = Form::kScalar, .atomic = true};
    auto a = old_members.begin();
    auto b = new_members.begin();
    while (a != old_members.end() || b != new_members.end()) {
      const int order = a == old_members.end()   ? 1
                        : b == new_members.end() ? -1
                                                 : (*a)->key.compare((*b)->key);
      Visit({.name = order <= 0 ? (*a)->key : (*b)->key}, order <= 0 ? &(*a)->value : nullptr,
            order >= 0 ? &(*b)->value : nullptr, type);
      if (order <= 0) ++a;
      if (order >= 0) ++b;
    }
  }

  Entries ByElement(const Value* value, const api::Field& field) const {
    Entries entries;
    const codec::Array* array = value == nullptr ? nullptr : value->AsArray();
    if (array == nullptr) return entries;
    entries.reserve(array->size());
    for (const Value& entry : *array) {
      entries.push_back({EntryElement(field, entry, layout_), &entry});
    }
    if (!std::is_sorted(entries.begin(), entries.end(), Entry::IsBefore)) {
      std::stable_sort(entries.begin(), entries.end(), Entry::IsBefore);
    }
    return entries;
  }

  void List(const Value* before, const Value* after, const api::Field& field) {
    const Entries old_entries = ByElement(before, field);
    const Entries new_entries = ByElement(after, field);
    const FieldType type = EntryTypeOf(field);
    auto a = old_entries.begin();
    auto b = new_entries.begin();
    while (a != old_entries.end() || b != new_entries.end()) {
      const bool from_old =
          a != old_entries.end() && (b == new_entries.end() || !Entry::IsBefore(*b, *a));
      const Entry& first = from_old ? *a : *b;
      const auto old_end = EndOf(first, a, old_entries.end());
      const auto new_end = EndOf(first, b, new_entries.end());
      Same({.element = &first.element}, {a, old_end}, {b, new_end}, type);
      a = old_end;
      b = new_end;
    }
  }

  // Returns the end of the entries from `at` on that have the element of `first`.
  static typename Entries::const_iterator EndOf(const Entry& first,
                                                typename Entries::const_iterator at,
                                                typename Entries::const_iterator end) {
    while (at != end && !Entry::IsBefore(first, *at)) ++at;
    return at;
  }

  // Compares all entries of one element. If a side has more than one, the element does not identify
  // an entry any more, and all of them count as one value.
  void Same(const Step& step, std::span<const Entry> before, std::span<const Entry> after,
            const FieldType& type) {
    const auto only = [](std::span<const Entry> entries) {
      return entries.size() == 1 ? entries.front().value : nullptr;
    };
    const bool many_before = before.size() > 1;
    const bool many_after = after.size() > 1;
    if (!many_before && !many_after) {
      Visit(step, only(before), only(after), type);
    } else if (many_before && many_after) {
      const auto equal = [](const Entry& a, const Entry& b) { return *a.value == *b.value; };
      if (!std::equal(before.begin(), before.end(), after.begin(), after.end(), equal)) {
        sink_.Changed(step);
      }
    } else if (many_before) {
      if (!after.empty()) Visit(step, nullptr, only(after), type);
      sink_.Removed(step);
    } else {
      if (!before.empty()) Visit(step, only(before), nullptr, type);
      sink_.Changed(step);
    }
  }

  const Layout layout_;
  const std::span<const std::string_view> skip_;
  Sink& sink_;
  size_t depth_ = 0;
};

}  // namespace berth::merge
