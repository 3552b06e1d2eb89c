#include "merge/typed.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "merge/field_types.h"

namespace berth::merge {
namespace {

using codec::Value;
using Entry = FieldSet::Entry;
using Form = FieldType::Form;
using Level = FieldSet::Level;

bool IsEmptyObject(const Value& value) {
  const codec::Object* object = value.AsObject();
  return object != nullptr && object->empty();
}

class Collector {
 public:
  FieldSet Run(const Value& document, const api::Message& message) {
    Struct(document, message);
    return builder_.Finish();
  }

 private:
  void Field(PathElement element, const Value& value, const FieldType& type) {
    if (type.atomic || value.IsNull() || (type.form != Form::kList && IsEmptyObject(value))) {
      builder_.Add(std::move(element));
      return;
    }
    builder_.Open(std::move(element));
    Inside(value, type);
    builder_.Close();
  }

  void Inside(const Value& value, const FieldType& type) {
    switch (type.form) {
      case Form::kStruct:
        Struct(value, *type.message);
        return;
      case Form::kMap:
        Map(value);
        return;
      case Form::kList:
        List(value, *type.field);
        return;
      case Form::kScalar:
        return;
    }
  }

  void Struct(const Value& value, const api::Message& message) {
    const Members members(&value, message, Layout::kDocument);
    for (const size_t position : message.by_name) {
      const Value* member = members.At(position);
      const api::Field& field = message.fields[position];
      if (member != nullptr) Field(PathElement::Field(field.name), *member, TypeOf(field));
    }
  }

  void Map(const Value& value) {
    std::vector<std::string_view> keys;
    for (const codec::Member& member : *value.AsObject()) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    for (const std::string_view key : keys) builder_.Add(PathElement::Field(key));
  }

  void List(const Value& value, const api::Field& field) {
    std::vector<std::pair<PathElement, const Value*>> entries;
    for (const Value& entry : *value.AsArray()) {
      entries.emplace_back(EntryElement(field, entry, Layout::kDocument), &entry);
    }
    const auto is_before = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::stable_sort(entries.begin(), entries.end(), is_before);
    for (auto at = entries.begin(); at != entries.end();) {
      const auto end = std::upper_bound(at, entries.end(), *at, is_before);
      const bool once = end - at == 1;
      builder_.Open(std::move(at->first));
      builder_.Mark();
      const FieldType type = EntryTypeOf(field);
      // What is there twice is not told apart any further.
      if (once && !type.atomic) Inside(*at->second, type);
      builder_.Close();
      at = end;
    }
  }

  FieldSetBuilder builder_;
};

// Finds entries of a level without looking at all of them.
class LevelIndex {
 public:
  explicit LevelIndex(Level level) {
    for (; !level.empty(); level = Rest(level)) entries_.push_back(&First(level));
  }

  /// Null if there is none.
  const Entry* Find(const PathElement& element) const {
    const auto at = std::lower_bound(
        entries_.begin(), entries_.end(), element,
        [](const Entry* entry, const PathElement& wanted) { return entry->element < wanted; });
    return at == entries_.end() || (*at)->element != element ? nullptr : *at;
  }

 private:
  std::vector<const Entry*> entries_;
};

Value Remove(const Value& value, Level level, const FieldType& type);

// What stays of a part of a struct, map or list; nothing: it goes.
std::optional<Value> RemovePart(const PathElement& element, const Value& value,
                                const LevelIndex& index, const FieldType& type) {
  const Entry* entry = index.Find(element);
  if (entry == nullptr) return value;
  if (entry->member) return std::nullopt;
  return Remove(value, entry->Below(), type);
}

Value RemoveFromObject(const codec::Object& object, Level level, const FieldType& type) {
  const LevelIndex index(level);
  codec::Object rest;
  for (const codec::Member& member : object) {
    const api::Field* field = type.form == Form::kMap ? type.field : type.message->Find(member.key);
    if (field == nullptr) continue;
    const FieldType member_type = type.form == Form::kMap ? EntryTypeOf(*field) : TypeOf(*field);
    auto kept = RemovePart(PathElement::Field(member.key), member.value, index, member_type);
    if (kept) rest.Set(member.key, *std::move(kept));
  }
  return rest.empty() ? Value() : Value(std::move(rest));
}

Value RemoveFromList(const codec::Array& array, Level level, const api::Field& field) {
  const LevelIndex index(level);
  codec::Array rest;
  for (const Value& entry : array) {
    auto kept =
        RemovePart(EntryElement(field, entry, Layout::kDocument), entry, index, EntryTypeOf(field));
    if (kept) rest.push_back(*std::move(kept));
  }
  return rest.empty() ? Value() : Value(std::move(rest));
}

Value Remove(const Value& value, Level level, const FieldType& type) {
  if (type.atomic) return value;
  if (const codec::Array* array = value.AsArray()) {
    return RemoveFromList(*array, level, *type.field);
  }
  const codec::Object* object = value.AsObject();
  return object == nullptr ? value : RemoveFromObject(*object, level, type);
}

// Goes through a set together with the types of its fields.
class Retyper {
 public:
  enum class Rule : uint8_t { kNamedFields, kAtomicFields };

  explicit Retyper(Rule rule) : rule_(rule) {}

  FieldSet Run(const FieldSet& set, const api::Message& message) {
    builder_.Reserve(set.Entries().size());
    Go(set.Entries(), ObjectType(message));
    return builder_.Finish();
  }

  /// Whether kAtomicFields would change anything.
  static bool HasPartsOfWhole(Level level, const std::optional<FieldType>& type) {
    for (; !level.empty(); level = Rest(level)) {
      const Entry& entry = First(level);
      if (entry.size == 1) continue;
      const std::optional<FieldType> below = TypeBelow(entry.element, type);
      if (IsWhole(below) || HasPartsOfWhole(entry.Below(), below)) return true;
    }
    return false;
  }

 private:
  // `type` nothing: not known.
  void Go(Level level, const std::optional<FieldType>& type) {
    for (; !level.empty(); level = Rest(level)) {
      const Entry& entry = First(level);
      const std::optional<FieldType> below = TypeBelow(entry.element, type);
      builder_.Open(entry.element);
      if (entry.member || IsAdded(entry, type, below)) builder_.Mark();
      if (rule_ == Rule::kNamedFields || !IsWhole(below)) Go(entry.Below(), below);
      builder_.Close();
    }
  }

  bool IsAdded(const Entry& entry, const std::optional<FieldType>& type,
               const std::optional<FieldType>& below) const {
    if (rule_ == Rule::kAtomicFields) return IsWhole(below);
    return entry.size > 1 && below && type->form == Form::kStruct;
  }

  static bool IsWhole(const std::optional<FieldType>& type) {
    return type && type->atomic && type->form != Form::kScalar;
  }

  static std::optional<FieldType> TypeBelow(const PathElement& element,
                                            const std::optional<FieldType>& type) {
    if (!type) return std::nullopt;
    const std::string* name = element.AsField();
    switch (type->form) {
      case Form::kStruct: {
        const api::Field* field = name == nullptr ? nullptr : type->message->Find(*name);
        if (field == nullptr) return std::nullopt;
        return TypeOf(*field);
      }
      case Form::kMap:
        if (name == nullptr) return std::nullopt;
        return EntryTypeOf(*type->field);
      case Form::kList:
        if (name != nullptr) return std::nullopt;
        return EntryTypeOf(*type->field);
      case Form::kScalar:
        break;
    }
    return std::nullopt;
  }

  const Rule rule_;
  FieldSetBuilder builder_;
};

}  // namespace

FieldSet FieldsOf(const Value& document, const api::Message& message) {
  return Collector().Run(document, message);
}

Value WithoutFields(const Value& document, const FieldSet& fields, const api::Message& message) {
  return Remove(document, fields.Entries(), ObjectType(message));
}

FieldSet WithNamedFields(const FieldSet& set, const api::Message& message) {
  return Retyper(Retyper::Rule::kNamedFields).Run(set, message);
}

std::optional<FieldSet> WithAtomicFields(const FieldSet& set, const api::Message& message) {
  if (!Retyper::HasPartsOfWhole(set.Entries(), ObjectType(message))) return std::nullopt;
  return Retyper(Retyper::Rule::kAtomicFields).Run(set, message);
}

}  // namespace berth::merge
