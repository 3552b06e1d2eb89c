#include "merge/go_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/escape.h"
#include "base/go_text.h"
#include "codec/encode.h"
#include "merge/go_value.h"

namespace berth::merge {
namespace {

using codec::Kind;
using codec::Value;

/// Up to this number, Go writes a float that is a whole number without a point.
constexpr double kLargestPlain = 1e15;

std::vector<const codec::Member*> Sorted(const codec::Object& object) {
  std::vector<const codec::Member*> members;
  members.reserve(object.size());
  for (const codec::Member& member : object) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const codec::Member* a, const codec::Member* b) { return a->key < b->key; });
  return members;
}

void AppendNumber(std::string& out, const Value& value) {
  if (const auto integer = value.AsInt()) {
    fmt::format_to(std::back_inserter(out), "{}", *integer);
  } else if (const auto natural = value.AsUint()) {
    fmt::format_to(std::back_inserter(out), "{}", *natural);
  } else if (const double real = value.AsDouble().value_or(0);
             real == std::trunc(real) && std::abs(real) < kLargestPlain) {
    fmt::format_to(std::back_inserter(out), "{}", static_cast<int64_t>(real));
  } else {
    base::AppendJsonDouble(out, real);
  }
}

void AppendSyntax(std::string& out, const Value& value) {
  if (out.size() > kMostShown) return;
  const auto separate = [&] {
    if (out.back() != '{') out += ", ";
  };
  if (const std::string* text = value.AsString()) {
    out += base::GoQuoted(*text);
  } else if (value.IsNull()) {
    out += "interface {}(nil)";
  } else if (const codec::Array* array = value.AsArray()) {
    out += "[]interface {}{";
    for (const Value& item : *array) {
      separate();
      AppendSyntax(out, item);
    }
    out += '}';
  } else if (const codec::Object* object = value.AsObject()) {
    out += "map[string]interface {}{";
    for (const codec::Member* member : Sorted(*object)) {
      separate();
      out += base::GoQuoted(member->key) + ":";
      AppendSyntax(out, member->value);
    }
    out += '}';
  } else {
    AppendGoJson(out, value);
  }
}

}  // namespace

void AppendGoJson(std::string& out, const Value& value) {
  switch (value.GetKind()) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += *value.AsBool() ? "true" : "false";
      return;
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
      AppendNumber(out, value);
      return;
    case Kind::kString:
      codec::AppendGoJsonString(out, *value.AsString());
      return;
    case Kind::kArray:
      out += '[';
      for (const Value& item : *value.AsArray()) {
        if (out.back() != '[') out += ',';
        AppendGoJson(out, item);
      }
      out += ']';
      return;
    case Kind::kObject:
      out += '{';
      for (const codec::Member* member : Sorted(*value.AsObject())) {
        if (out.back() != '{') out += ',';
        codec::AppendGoJsonString(out, member->key);
        out += ':';
        AppendGoJson(out, member->value);
      }
      out += '}';
      return;
  }
}

std::string GoSyntax(const Value& value) {
  std::string out;
  AppendSyntax(out, value);
  return Shown(std::move(out));
}

}  // namespace berth::merge
