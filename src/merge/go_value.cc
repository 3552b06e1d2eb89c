#include "merge/go_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

namespace berth::merge {
namespace {

using codec::Array;
using codec::Kind;
using codec::Member;
using codec::Object;
using codec::Value;

// Stops when there is more text than is shown.
class Printer {
 public:
  std::string Take() { return Shown(std::move(out_)); }

  void Print(const Value& value) {
    if (out_.size() > kMostShown) return;
    switch (value.GetKind()) {
      case Kind::kNull:
        out_ += "<nil>";
        return;
      case Kind::kBool:
        out_ += *value.AsBool() ? "true" : "false";
        return;
      case Kind::kInt:
        fmt::format_to(std::back_inserter(out_), "{}", *value.AsInt());
        return;
      case Kind::kUint:
      case Kind::kDouble:
        fmt::format_to(std::back_inserter(out_), "{}", *value.AsDouble());
        return;
      case Kind::kString:
        out_ += *value.AsString();
        return;
      case Kind::kArray:
        Print(*value.AsArray());
        return;
      case Kind::kObject:
        Print(*value.AsObject());
        return;
    }
  }

  void Print(const Array& array) {
    out_ += '[';
    for (const Value& item : array) {
      if (&item != array.data()) out_ += ' ';
      if (out_.size() > kMostShown) return;
      Print(item);
    }
    out_ += ']';
  }

  void Print(const Object& object) {
    std::vector<const Member*> sorted;
    sorted.reserve(object.size());
    for (const Member& member : object) sorted.push_back(&member);
    std::sort(sorted.begin(), sorted.end(),
              [](const Member* a, const Member* b) { return a->key < b->key; });
    out_ += "map[";
    for (size_t i = 0; i < sorted.size(); ++i) {
      if (i > 0) out_ += ' ';
      if (out_.size() > kMostShown) return;
      out_ += sorted[i]->key;
      out_ += ':';
      Print(sorted[i]->value);
    }
    out_ += ']';
  }

 private:
  std::string out_;
};

template <typename T>
std::string Printed(const T& value) {
  Printer printer;
  printer.Print(value);
  return printer.Take();
}

}  // namespace

std::string GoText(const Value& value) { return Printed(value); }
std::string GoText(const Object& object) { return Printed(object); }
std::string GoText(const Array& array) { return Printed(array); }

std::string GoTextVerb(const Value& value) {
  switch (value.GetKind()) {
    case Kind::kNull:
      return "%!s(<nil>)";
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      return fmt::format("%!s({}={})", GoTypeName(value), GoText(value));
    default:
      return GoText(value);
  }
}

std::string_view GoTypeName(const Value& value) {
  switch (value.GetKind()) {
    case Kind::kNull:
      return "%!s(<nil>)";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
      return "int64";
    case Kind::kUint:
    case Kind::kDouble:
      return "float64";
    case Kind::kString:
      return "string";
    case Kind::kArray:
      return "[]interface {}";
    case Kind::kObject:
      break;
  }
  return "map[string]interface {}";
}

std::string_view GoKindName(const Value& value) {
  if (value.GetKind() == Kind::kArray) return "slice";
  return value.GetKind() == Kind::kObject ? "map" : GoTypeName(value);
}

std::string Shown(std::string text) {
  if (text.size() <= kMostShown) return text;
  size_t end = kMostShown;
  // Does not cut a character in the middle.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  text += "...";
  return text;
}

}  // namespace berth::merge
