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
      // The contents of duplicate entries are not distinguished any further.
      if (once && !type.atomic) Inside(*at->second, type);
      builder_.Close();
      at = end;
    }
  }

  FieldSetBuilder builder_;
};

// Removes fields from a document.
class Remover {
 public:
  explicit Remover(const FieldSet& fields) : index_(fields) {}

  Value Run(const Value& document, const api::Message& message) const {
    return Rest(document, index_.Top(), ObjectType(message));
  }

 private:
  using Found = FieldIndex::Level;

  // Returns what remains of a value after some of its parts are removed.
  Value Rest(const Value& value, Found found, const FieldType& type) const {
    if (type.atomic) return value;
    if (const codec::Array* array = value.AsArray()) return RestOfList(*array, found, *type.field);
    const codec::Object* object = value.AsObject();
    return object == nullptr ? value : RestOfObject(*object, found, type);
  }

  Value RestOfObject(const codec::Object& object, Found found, const FieldType& type) const {
    codec::Object rest;
    for (const codec::Member& member : object) {
      const api::Field* field =
          type.form == Form::kMap ? type.field : type.message->Find(member.key);
      if (field == nullptr) continue;
      const FieldType member_type = type.form == Form::kMap ? EntryTypeOf(*field) : TypeOf(*field);
      auto kept = Part(PathElement::Field(member.key), member.value, found, member_type);
      if (kept) rest.Set(member.key, *std::move(kept));
    }
    return rest.empty() ? Value() : Value(std::move(rest));
  }

  Value RestOfList(const codec::Array& array, Found found, const api::Field& field) const {
    codec::Array rest;
    for (const Value& entry : array) {
      auto kept =
          Part(EntryElement(field, entry, Layout::kDocument), entry, found, EntryTypeOf(field));
      if (kept) rest.push_back(*std::move(kept));
    }
    return rest.empty() ? Value() : Value(std::move(rest));
  }

  // Returns nullopt if the whole value is removed.
  std::optional<Value> Part(const PathElement& element, const Value& value, Found found,
                            const FieldType& type) const {
    const Entry* entry = FieldIndex::Find(found, element);
    if (entry == nullptr) return value;
    if (entry->member) return std::nullopt;
    return Rest(value, index_.Below(*entry), type);
  }

  const FieldIndex index_;
};

// Walks over a set together with the types of its fields.
class Retyper {
 public:
  enum class Rule : uint8_t { kNamedFields, kAtomicFields };

  explicit Retyper(Rule rule) : rule_(rule) {}

  FieldSet Run(const FieldSet& set, const api::Message& message) {
    builder_.Reserve(set.Entries().size());
    Go(set.Entries(), ObjectType(message));
    return builder_.Finish();
  }

  /// Returns whether kAtomicFields would change anything.
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
  // `type` is nullopt if it is not known.
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
  return Remover(fields).Run(document, message);
}

FieldSet WithNamedFields(const FieldSet& set, const api::Message& message) {
  return Retyper(Retyper::Rule::kNamedFields).Run(set, message);
}

std::optional<FieldSet> WithAtomicFields(const FieldSet& set, const api::Message& message) {
  if (!Retyper::HasPartsOfWhole(set.Entries(), ObjectType(message))) return std::nullopt;
  return Retyper(Retyper::Rule::kAtomicFields).Run(set, message);
}

}  // namespace berth::merge
