#include <fmt/format.h>

#include <set>
#include <string_view>
#include <utility>

#include "merge/field_types.h"
#include "merge/go_json.h"
#include "merge/go_value.h"
#include "merge/typed.h"

namespace berth::merge {
namespace {

using codec::Value;
using Form = FieldType::Form;

/// A document that is wrong throughout does not get a list of all its errors.
constexpr size_t kMostErrors = 100;

// Returns a value as Go prints it with its wrapper.
std::string Wrapped(const Value& value) { return "&{" + GoText(value) + "}"; }

class Checker {
 public:
  std::vector<std::string> Run(const Value& document, const api::Message& message) {
    Check(document, ObjectType(message));
    return std::move(errors_);
  }

 private:
  void Fail(std::string_view message) {
    if (errors_.size() == kMostErrors) return;
    errors_.push_back(path_.empty() ? std::string(message)
                                    : fmt::format("{}: {}", PathText(path_), message));
  }

  void Check(const Value& value, const FieldType& type) {
    if (value.IsNull()) return;
    switch (type.form) {
      case Form::kScalar:
        Scalar(value, *type.field);
        return;
      case Form::kStruct:
      case Form::kMap:
        if (const codec::Object* object = value.AsObject()) return Object(*object, type);
        return Fail("expected map, got " + Wrapped(value));
      case Form::kList:
        if (const codec::Array* array = value.AsArray()) return List(*array, type);
        return Fail("expected list, got " + Wrapped(value));
    }
  }

  void Scalar(const Value& value, const api::Field& field) {
    switch (field.type) {
      case api::Type::kString:
        if (value.AsString() != nullptr) return;
        return Fail(fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}",
                                GoSyntax(value)));
      case api::Type::kInt32:
      case api::Type::kInt64:
        if (value.AsDouble()) return;
        return Fail(fmt::format("expected numeric (int or float), got {}", GoTypeName(value)));
      case api::Type::kBool:
        if (value.AsBool()) return;
        return Fail("expected boolean, got " + Wrapped(value));
      case api::Type::kTime:
      case api::Type::kMicroTime:
      case api::Type::kIntOrString:
      case api::Type::kQuantity:
        if (value.AsArray() == nullptr && value.AsObject() == nullptr) return;
        return Fail("expected any scalar, got " + Wrapped(value));
      case api::Type::kFieldsV1:
      case api::Type::kMessage:
        return;
    }
  }

  void Object(const codec::Object& object, const FieldType& type) {
    for (const codec::Member& member : object) {
      path_.push_back(PathElement::Field(member.key));
      bool known = true;
      if (type.form == Form::kMap) {
        Check(member.value, EntryTypeOf(*type.field));
      } else if (const api::Field* field = type.message->Find(member.key)) {
        Check(member.value, TypeOf(*field));
      } else {
        Fail("field not declared in schema");
        known = false;
      }
      path_.pop_back();
      if (!known || errors_.size() == kMostErrors) return;  // Kubernetes stops here too.
    }
  }

  void List(const codec::Array& array, const FieldType& type) {
    const FieldType entry_type = EntryTypeOf(*type.field);
    std::set<PathElement> seen;
    for (size_t i = 0; i < array.size() && errors_.size() < kMostErrors; ++i) {
      PathElement element = PathElement::Index(static_cast<int64_t>(i));
      if (!type.atomic) {
        if (const std::string fault = EntryFault(array[i], *type.field); !fault.empty()) {
          return Fail(fmt::format("element {}: {}", i, fault));
        }
        element = EntryElement(*type.field, array[i], Layout::kDocument);
        if (!seen.insert(element).second) {
          Fail("duplicate entries for key " + element.ToText());
        }
      }
      path_.push_back(std::move(element));
      Check(array[i], entry_type);
      path_.pop_back();
    }
  }

  // Returns why an entry has no element, or "" if it has one.
  static std::string EntryFault(const Value& entry, const api::Field& list) {
    if (list.list_kind == api::ListKind::kSet) {
      if (entry.AsObject() != nullptr) {
        return "associative list without keys has an element that's a map type";
      }
      if (entry.AsArray() != nullptr) {
        return "not supported: associative list with lists as elements";
      }
      if (!entry.IsNull()) return "";
      return "associative list without keys has an element that's an explicit null";
    }
    if (entry.IsNull()) return "associative list with keys may not have a null element";
    if (entry.AsObject() == nullptr) {
      return "associative list with keys may not have non-map elements";
    }
    std::string names;
    for (const api::ListKey& key : list.list_keys) {
      if (!key.default_text.empty() || entry.Find(key.name) != nullptr) return "";
      names += fmt::format("{}\"{}\"", names.empty() ? "" : " ", key.name);
    }
    return fmt::format(
        "associative list with keys has an element that omits all key fields [{}] (and doesn't "
        "have default values for any key fields)",
        names);
  }

  std::vector<PathElement> path_;
  std::vector<std::string> errors_;
};

}  // namespace

std::vector<std::string> FindTypeErrors(const Value& document, const api::Message& message) {
  return Checker().Run(document, message);
}

}  // namespace berth::merge
