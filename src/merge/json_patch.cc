#include "merge/json_patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/go_text.h"
#include "codec/json.h"
#include "codec/read.h"
#include "merge/patch_errors.h"

namespace berth::merge {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;

// Go's names for the types that it decodes operations into, and its prefix for errors. There is a
// decoder that checks the members and one that does not.
struct GoNames {
  std::string_view list;
  std::string_view operation;
  std::string_view prefix;
};
constexpr GoNames kChecked = {"[]handlers.jsonPatchOp", "handlers.jsonPatchOp",
                              "error decoding patch: "};
constexpr GoNames kUnchecked = {"jsonpatch.Patch", "jsonpatch.Operation", ""};

std::string Unescaped(std::string_view token) {
  std::string text;
  text.reserve(token.size());
  for (size_t i = 0; i < token.size(); ++i) {
    const bool escape =
        token[i] == '~' && i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1');
    text += escape ? (token[i + 1] == '0' ? '~' : '/') : token[i];
    if (escape) ++i;
  }
  return text;
}

// Returns nullopt if the pointer is deeper than any document: it could be as long as the patch.
std::optional<Pointer> ParsePointer(std::string_view text) {
  Pointer pointer;
  if (text.empty()) return pointer;
  size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  while (slash != std::string_view::npos) {
    text.remove_prefix(slash + 1);
    slash = text.find('/');
    if (pointer.size() == kDeepestResult) return std::nullopt;
    pointer.push_back(Unescaped(text.substr(0, slash)));
  }
  return pointer;
}

Operation::Kind KindOf(std::string_view op) {
  using enum Operation::Kind;
  if (op == "add") return kAdd;
  if (op == "remove") return kRemove;
  if (op == "replace") return kReplace;
  if (op == "move") return kMove;
  if (op == "copy") return kCopy;
  return op == "test" ? kTest : kUnknown;
}

std::string_view NameInGo(const Value& value) {
  switch (value.GetKind()) {
    case codec::Kind::kBool:
      return "bool";
    case codec::Kind::kString:
      return "string";
    case codec::Kind::kArray:
      return "array";
    case codec::Kind::kObject:
      return "object";
    default:
      return "number";
  }
}

auto WrongType(const GoNames& names, const Value& found, std::string_view wanted) {
  return BadPatch(
      fmt::format("{}json: cannot unmarshal {} into Go {}", names.prefix, NameInGo(found), wanted));
}

base::Result<Operation> ReadOperation(Value& source, const GoNames& names, size_t index,
                                      std::vector<std::string>& problems) {
  Operation operation;
  if (source.IsNull()) return operation;
  if (source.AsObject() == nullptr) {
    return WrongType(names, source, fmt::format("value of type {}", names.operation));
  }
  for (const codec::Member& member : *source.AsObject()) {
    if (member.key == "value") continue;
    const bool known = member.key == "op" || member.key == "path" || member.key == "from";
    if (!known) {
      const std::string path = fmt::format("[{}].{}", index, member.key);
      problems.push_back("json patch unknown field " + base::GoQuoted(path));
      continue;
    }
    if (member.value.IsNull()) continue;
    if (member.value.AsString() == nullptr) {
      if (&names == &kUnchecked) continue;
      return WrongType(names, member.value,
                       fmt::format("struct field jsonPatchOp.{} of type string", member.key));
    }
    const std::string_view text = codec::Text(&member.value);
    if (member.key == "op") operation.kind = KindOf(text);
    if (member.key == "path") operation.path = ParsePointer(text);
    if (member.key == "from") operation.from = ParsePointer(text);
  }
  if (Value* value = source.Find("value")) operation.value = std::move(*value);
  return operation;
}

// Parses a number like Go's strconv.Atoi. One that does not fit is not a valid index either.
std::optional<int64_t> ParsePointerIndex(std::string_view token) {
  if (token.starts_with('+') && !token.starts_with("+-")) token.remove_prefix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), number);
  if (error != std::errc() || end != token.data() + token.size()) return std::nullopt;
  return number;
}

// Returns the index that `token` means in a list of `size` positions.
std::optional<size_t> PlaceAmong(std::string_view token, size_t size) {
  const auto index = ParsePointerIndex(token);
  if (!index) return std::nullopt;
  const auto places = static_cast<int64_t>(size);
  if (*index >= places || *index < -places) return std::nullopt;
  return static_cast<size_t>(*index < 0 ? *index + places : *index);
}

// Applies the operations of one patch to one document.
class Run {
 public:
  explicit Run(Value& document) : root_(document) {}

  bool TookTooLong() const { return steps_left_ == 0; }

  bool Apply(const Operation& operation) {
    using enum Operation::Kind;
    if (!operation.path) return false;
    switch (operation.kind) {
      case kAdd:
        return Add(*operation.path, operation.value);
      case kRemove:
        return Take(*operation.path, nullptr);
      case kReplace:
        return Replace(*operation.path, operation.value);
      case kMove:
        return operation.from && Move(*operation.from, *operation.path);
      case kCopy:
        return operation.from && Copy(*operation.from, *operation.path);
      case kTest:
        return Test(*operation.path, operation.value);
      case kUnknown:
        break;
    }
    return false;
  }

 private:
  // Counts work. Returns false, and leaves no work for later operations, if the limit is reached.
  bool Charge(size_t steps) {
    if (steps >= steps_left_) {
      steps_left_ = 0;
      return false;
    }
    steps_left_ -= steps;
    return true;
  }

  // Returns the object or array that contains the target of `pointer`, or null
  // if there is no such container.
  Value* Container(const Pointer& pointer) {
    if (pointer.empty()) return nullptr;
    Value* at = &root_;
    for (const std::string& token : std::span(pointer).first(pointer.size() - 1)) {
      at = Child(*at, token);
      if (at == nullptr) return nullptr;
    }
    return at->AsObject() != nullptr || at->AsArray() != nullptr ? at : nullptr;
  }

  static Value* Child(Value& container, std::string_view token) {
    Array* array = container.AsArray();
    if (array == nullptr) return container.Find(token);
    const auto place = PlaceAmong(token, array->size());
    return place ? &(*array)[*place] : nullptr;
  }

  // Returns the depth of the value, and counts one step for each of its nodes.
  size_t Measure(const Value& value) {
    if (!Charge(1)) return 0;
    size_t deepest = 0;
    if (const Array* array = value.AsArray()) {
      for (const Value& item : *array) deepest = std::max(deepest, Measure(item));
    } else if (const Object* object = value.AsObject()) {
      for (const codec::Member& each : *object) deepest = std::max(deepest, Measure(each.value));
    } else {
      return 0;
    }
    return deepest + 1;
  }

  bool Fits(const Pointer& path, const Value& value) {
    return path.size() + Measure(value) <= kDeepestResult && !TookTooLong();
  }

  bool Add(const Pointer& path, Value value) {
    Value* container = Container(path);
    if (container == nullptr || !Fits(path, value)) return false;
    const std::string& token = path.back();
    Array* array = container->AsArray();
    if (array == nullptr) {
      container->Set(token, std::move(value));
      return true;
    }
    if (token == "-") {
      array->push_back(std::move(value));
      return true;
    }
    const auto place = PlaceAmong(token, array->size() + 1);
    if (!place || !Charge(array->size())) return false;
    array->insert(array->begin() + static_cast<std::ptrdiff_t>(*place), std::move(value));
    return true;
  }

  // Removes a value, and moves it to `taken` if that is not null.
  bool Take(const Pointer& path, Value* taken) {
    Value* container = Container(path);
    if (container == nullptr) return false;
    const std::string& token = path.back();
    Value* value = Child(*container, token);
    if (value == nullptr) return false;
    if (taken != nullptr) *taken = std::move(*value);
    if (Array* array = container->AsArray()) {
      array->erase(array->begin() + (value - array->data()));
      return Charge(array->size());
    }
    container->AsObject()->Erase(token);
    return Charge(container->AsObject()->size());
  }

  bool Replace(const Pointer& path, const Value& value) {
    if (path.empty()) {
      if (value.AsObject() == nullptr && value.AsArray() == nullptr) return false;
      if (!Fits(path, value)) return false;
      root_ = value;
      return true;
    }
    Value* container = Container(path);
    if (container == nullptr || !Fits(path, value)) return false;
    if (container->AsObject() != nullptr) {
      container->Set(path.back(), value);
      return true;
    }
    Value* old = Child(*container, path.back());
    if (old == nullptr) return false;
    *old = value;
    return true;
  }

  bool Move(const Pointer& from, const Pointer& path) {
    Value value;
    return Take(from, &value) && Add(path, std::move(value));
  }

  bool Copy(const Pointer& from, const Pointer& path) {
    Value* container = Container(from);
    if (container == nullptr) return false;
    const Value* source = Child(*container, from.back());
    if (source == nullptr && container->AsArray() != nullptr) return false;
    if (source == nullptr) return Add(path, nullptr);
    copied_ += codec::WriteJson(*source).size();
    return copied_ <= kMostCopied && Add(path, *source);
  }

  bool Test(const Pointer& path, const Value& value) {
    if (path.empty()) return root_ == value;
    Value* container = Container(path);
    if (container == nullptr) return false;
    const Value* found = Child(*container, path.back());
    if (found == nullptr) return container->AsObject() != nullptr && value.IsNull();
    return *found == value;
  }

  Value& root_;
  size_t steps_left_ = kMostSteps;
  size_t copied_ = 0;
};

}  // namespace

base::Result<JsonPatch> ReadJsonPatch(Value document, codec::FieldValidation validation) {
  const GoNames& names = validation == codec::FieldValidation::kIgnore ? kUnchecked : kChecked;
  JsonPatch patch;
  if (document.IsNull()) return patch;
  Array* list = document.AsArray();
  if (list == nullptr)
    return WrongType(names, document, fmt::format("value of type {}", names.list));
  if (list->size() > kMostOperations) {
    return TooLarge(fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                kMostOperations, list->size()));
  }
  patch.operations.reserve(list->size());
  for (Value& source : *list) {
    auto operation = ReadOperation(source, names, patch.operations.size(), patch.problems);
    if (!operation) return tl::unexpected(std::move(operation.error()));
    patch.operations.push_back(std::move(*operation));
  }
  return patch;
}

base::Result<void> ApplyJsonPatch(Value& document, const JsonPatch& patch) {
  Run run(document);
  for (const Operation& operation : patch.operations) {
    if (run.Apply(operation)) continue;
    if (run.TookTooLong()) return TooLarge("The JSON patch takes too much work");
    return DoesNotApply();
  }
  return {};
}

}  // namespace berth::merge
