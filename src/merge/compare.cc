#include "merge/compare.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace berth::merge {
namespace {

using codec::Value;
using Form = FieldType::Form;

// A set in the making that opens the way to a field only when there is something to add.
class LazySet {
 public:
  /// `path` is where the walk is.
  void Add(const std::vector<PathElement>& path, PathElement element) {
    OpenTo(path);
    builder_.Add(std::move(element));
  }
  void AddSelf(const std::vector<PathElement>& path) {
    if (path.empty()) return;
    OpenTo(path);
    builder_.Mark();
  }

  /// The walk has gone back to this depth.
  void LeaveTo(size_t depth) {
    for (; open_ > depth; --open_) builder_.Close();
  }

  FieldSet Finish() { return builder_.Finish(); }

 private:
  void OpenTo(const std::vector<PathElement>& path) {
    for (; open_ < path.size(); ++open_) builder_.Open(path[open_]);
  }

  FieldSetBuilder builder_;
  size_t open_ = 0;
};

struct ListEntry {
  PathElement element;
  const Value* value;
};

bool IsBefore(const ListEntry& a, const ListEntry& b) { return a.element < b.element; }

class Walk {
 public:
  explicit Walk(const CompareOptions& options) : layout_(options.layout), skip_(options.skip) {}

  Comparison Run(const Value& before, const Value& after, const api::Message& message) {
    Inside(&before, &after, ObjectType(message));
    return {.changed = changed_.Finish(), .removed = removed_.Finish()};
  }

 private:
  // One of the two may be null: not there.
  void Visit(PathElement element, const Value* before, const Value* after, const FieldType& type) {
    if (before == after) return;
    if (type.atomic) {
      if (before == nullptr || (after != nullptr && *before != *after)) {
        changed_.Add(path_, std::move(element));
      } else if (after == nullptr) {
        removed_.Add(path_, std::move(element));
      }
      return;
    }
    if (before != nullptr && after != nullptr && *before == *after) return;
    path_.push_back(std::move(element));
    Inside(before, after, type);
    path_.pop_back();
    changed_.LeaveTo(path_.size());
    removed_.LeaveTo(path_.size());
  }

  void Inside(const Value* before, const Value* after, const FieldType& type) {
    if (before == nullptr) changed_.AddSelf(path_);
    if (after == nullptr) removed_.AddSelf(path_);
    if (IsEmpty(before, type) && IsEmpty(after, type)) {
      // Empty and null are told apart.
      if (before != nullptr && after != nullptr && *before != *after) changed_.AddSelf(path_);
      return;
    }
    switch (type.form) {
      case Form::kStruct:
        Struct(before, after, *type.message);
        return;
      case Form::kMap:
        Map(before, after);
        return;
      case Form::kList:
        List(before, after, *type.field);
        return;
      case Form::kScalar:
        return;
    }
  }

  bool IsEmpty(const Value* value, const FieldType& type) const {
    if (value == nullptr) return true;
    if (const codec::Array* array = value->AsArray()) return array->empty();
    const codec::Object* object = value->AsObject();
    if (object == nullptr) return true;
    if (!object->empty()) return false;
    return type.form != Form::kStruct || layout_ == Layout::kDocument ||
           std::none_of(
               type.message->fields.begin(), type.message->fields.end(),
               [](const api::Field& field) { return field.presence == api::Presence::kAlways; });
  }

  void Struct(const Value* before, const Value* after, const api::Message& message) {
    const Members old_members(before, message, layout_);
    const Members new_members(after, message, layout_);
    for (const size_t position : message.by_name) {
      const Value* old_value = old_members.At(position);
      const Value* new_value = new_members.At(position);
      if (old_value == new_value) continue;
      const api::Field& field = message.fields[position];
      if (path_.empty() && std::find(skip_.begin(), skip_.end(), field.name) != skip_.end()) {
        continue;
      }
      const FieldType type = TypeOf(field);
      // Most fields are scalars and the same: no element is made for them.
      if (type.atomic && old_value != nullptr && new_value != nullptr && *old_value == *new_value) {
        continue;
      }
      Visit(PathElement::Field(field.name), old_value, new_value, type);
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

  // Of strings.
  void Map(const Value* before, const Value* after) {
    const std::vector<const codec::Member*> old_members = ByKey(before);
    const std::vector<const codec::Member*> new_members = ByKey(after);
    const FieldType type{.form = Form::kScalar, .atomic = true};
    auto a = old_members.begin();
    auto b = new_members.begin();
    while (a != old_members.end() || b != new_members.end()) {
      const bool in_old =
          a != old_members.end() && (b == new_members.end() || (*a)->key <= (*b)->key);
      const bool in_new =
          b != new_members.end() && (a == old_members.end() || (*b)->key <= (*a)->key);
      Visit(PathElement::Field(in_old ? (*a)->key : (*b)->key), in_old ? &(*a)->value : nullptr,
            in_new ? &(*b)->value : nullptr, type);
      if (in_old) ++a;
      if (in_new) ++b;
    }
  }

  std::vector<ListEntry> ByElement(const Value* value, const api::Field& field) const {
    std::vector<ListEntry> entries;
    const codec::Array* array = value == nullptr ? nullptr : value->AsArray();
    if (array == nullptr) return entries;
    entries.reserve(array->size());
    for (const Value& entry : *array) {
      entries.push_back({EntryElement(field, entry, layout_), &entry});
    }
    if (!std::is_sorted(entries.begin(), entries.end(), IsBefore)) {
      std::stable_sort(entries.begin(), entries.end(), IsBefore);
    }
    return entries;
  }

  void List(const Value* before, const Value* after, const api::Field& field) {
    std::vector<ListEntry> old_entries = ByElement(before, field);
    std::vector<ListEntry> new_entries = ByElement(after, field);
    const FieldType type = EntryTypeOf(field);
    auto a = old_entries.begin();
    auto b = new_entries.begin();
    while (a != old_entries.end() || b != new_entries.end()) {
      const bool from_old = a != old_entries.end() && (b == new_entries.end() || !IsBefore(*b, *a));
      const ListEntry& first = from_old ? *a : *b;
      const auto old_end = std::upper_bound(a, old_entries.end(), first, IsBefore);
      const auto new_end = std::upper_bound(b, new_entries.end(), first, IsBefore);
      PathElement element = first.element;
      Same(std::move(element), {a, old_end}, {b, new_end}, type);
      a = old_end;
      b = new_end;
    }
  }

  // All entries of one element; more than one on a side means that it says nothing any more, and
  // they count as one value.
  void Same(PathElement element, std::span<const ListEntry> before,
            std::span<const ListEntry> after, const FieldType& type) {
    const auto only = [](std::span<const ListEntry> entries) {
      return entries.size() == 1 ? entries.front().value : nullptr;
    };
    const bool many_before = before.size() > 1;
    const bool many_after = after.size() > 1;
    if (!many_before && !many_after) {
      Visit(std::move(element), only(before), only(after), type);
    } else if (many_before && many_after) {
      const auto equal = [](const ListEntry& a, const ListEntry& b) {
        return *a.value == *b.value;
      };
      if (!std::equal(before.begin(), before.end(), after.begin(), after.end(), equal)) {
        changed_.Add(path_, std::move(element));
      }
    } else if (many_before) {
      if (!after.empty()) Visit(element, nullptr, only(after), type);
      removed_.Add(path_, std::move(element));
    } else {
      if (!before.empty()) Visit(element, only(before), nullptr, type);
      changed_.Add(path_, std::move(element));
    }
  }

  const Layout layout_;
  const std::span<const std::string_view> skip_;
  std::vector<PathElement> path_;
  LazySet changed_;
  LazySet removed_;
};

}  // namespace

Comparison Compare(const Value& before, const Value& after, const api::Message& message,
                   const CompareOptions& options) {
  return Walk(options).Run(before, after, message);
}

}  // namespace berth::merge
