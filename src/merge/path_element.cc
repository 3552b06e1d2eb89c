#include "merge/path_element.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>

#include "base/go_text.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "merge/go_json.h"
#include "merge/go_value.h"

namespace berth::merge {
namespace {

using codec::Value;

// Returns the rank of a value's kind: values of different kinds are ordered by it.
int RankOf(const Value& value) {
  switch (value.GetKind()) {
    case codec::Kind::kInt:
    case codec::Kind::kUint:
    case codec::Kind::kDouble:
      return 0;
    case codec::Kind::kString:
      return 1;
    case codec::Kind::kBool:
      return 2;
    case codec::Kind::kArray:
      return 3;
    case codec::Kind::kObject:
      return 4;
    case codec::Kind::kNull:
      break;
  }
  return 5;
}

// A long double holds every int64, uint64 and double exactly.
static_assert(std::numeric_limits<long double>::digits >= 64);
long double NumberOf(const Value& value) {
  if (const auto integer = value.AsInt()) return static_cast<long double>(*integer);
  if (const auto natural = value.AsUint()) return static_cast<long double>(*natural);
  return static_cast<long double>(value.AsDouble().value_or(0));
}

template <typename T>
std::weak_ordering Order(const T& a, const T& b) {
  if (a < b) return std::weak_ordering::less;
  return b < a ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

std::weak_ordering Order(const std::string& a, const std::string& b) { return a.compare(b) <=> 0; }

std::weak_ordering CompareValues(const Value& a, const Value& b);

std::weak_ordering CompareLists(const codec::Array& a, const codec::Array& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const auto order = CompareValues(a[i], b[i]); order != 0) return order;
  }
  return Order(a.size(), b.size());
}

std::weak_ordering CompareKeys(const ListKey& a, const ListKey& b) {
  if (&a == &b) return std::weak_ordering::equivalent;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (const auto order = Order(a[i].name, b[i].name); order != 0) return order;
    if (const auto order = CompareValues(a[i].value, b[i].value); order != 0) return order;
  }
  return Order(a.size(), b.size());
}

void SortByName(ListKey& key) {
  std::stable_sort(key.begin(), key.end(),
                   [](const KeyField& a, const KeyField& b) { return a.name < b.name; });
}

ListKey FieldsOf(const codec::Object& object) {
  ListKey key;
  key.reserve(object.size());
  for (const codec::Member& member : object) key.push_back({member.key, member.value});
  SortByName(key);
  return key;
}

std::weak_ordering CompareValues(const Value& a, const Value& b) {
  if (const auto order = Order(RankOf(a), RankOf(b)); order != 0) return order;
  if (const std::string* text = a.AsString()) return Order(*text, *b.AsString());
  if (const auto truth = a.AsBool()) return Order(*truth, *b.AsBool());
  if (const codec::Array* array = a.AsArray()) return CompareLists(*array, *b.AsArray());
  if (const codec::Object* object = a.AsObject()) {
    return CompareKeys(FieldsOf(*object), FieldsOf(*b.AsObject()));
  }
  return a.IsNull() ? std::weak_ordering::equivalent : Order(NumberOf(a), NumberOf(b));
}

std::string ValueText(const Value& value) {
  if (value.IsNull()) return "null";
  const std::string* text = value.AsString();
  return text == nullptr ? GoText(value) : base::GoQuoted(*text);
}

std::optional<int64_t> ParseElementIndex(std::string_view text) {
  int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

// Removes a JSON string without escapes from the front of `text`.
std::optional<std::string_view> TakePlainString(std::string_view& text) {
  const size_t end = text.find('"', 1);
  if (text.empty() || text.front() != '"' || end == std::string_view::npos) return std::nullopt;
  const std::string_view content = text.substr(1, end - 1);
  const auto is_plain = [](unsigned char c) { return c >= ' ' && c < 0x7F && c != '\\'; };
  if (!std::all_of(content.begin(), content.end(), is_plain)) return std::nullopt;
  text.remove_prefix(end + 1);
  return content;
}

// Parses the common form of list keys, `{"port":80,"protocol":"TCP"}`, without a document in
// between. Returns nullopt if the text needs a full JSON parser.
std::optional<ListKey> ParsePlainKey(std::string_view text) {
  ListKey key;
  key.reserve(2);
  char before = '{';
  while (!text.empty() && text.front() == before) {
    text.remove_prefix(1);
    const auto name = TakePlainString(text);
    if (!name || text.empty() || text.front() != ':') return std::nullopt;
    text.remove_prefix(1);
    if (const auto value = TakePlainString(text)) {
      key.push_back({std::string(*name), Value(*value)});
    } else {
      const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
      const auto number = ParseElementIndex(text.substr(0, digits));
      if (!number || (digits > 1 && text.front() == '0')) return std::nullopt;
      key.push_back({std::string(*name), Value(*number)});
      text.remove_prefix(digits);
    }
    before = ',';
  }
  SortByName(key);
  const bool twice = std::adjacent_find(key.begin(), key.end(), [](const auto& a, const auto& b) {
                       return a.name == b.name;
                     }) != key.end();
  if (text != "}" || key.empty() || twice) return std::nullopt;
  return key;
}

base::Result<Value> ParseValue(std::string_view text) {
  std::string_view rest = text;
  if (const auto plain = TakePlainString(rest); plain && rest.empty()) return Value(*plain);
  return codec::ParseJson(text);
}

base::Result<ListKey> ParseKey(std::string_view text) {
  if (auto key = ParsePlainKey(text)) return *std::move(key);
  const auto value = codec::ParseJson(text);
  if (!value) return tl::unexpected(value.error());
  const codec::Object* object = value->AsObject();
  if (object == nullptr)
    return base::Fail(base::Reason::kBadRequest, "the key is not a JSON object");
  return FieldsOf(*object);
}

}  // namespace

std::weak_ordering PathElement::operator<=>(const PathElement& other) const {
  if (const auto order = Order(data_.index(), other.data_.index()); order != 0) return order;
  switch (GetKind()) {
    case Kind::kField:
      return Order(AsName(), other.AsName());
    case Kind::kKey:
      return CompareKeys(AsKey(), other.AsKey());
    case Kind::kValue:
      return CompareValues(AsValue(), other.AsValue());
    case Kind::kIndex:
      break;
  }
  return Order(AsIndex(), other.AsIndex());
}

void PathElement::AppendTo(std::string& out) const {
  switch (GetKind()) {
    case Kind::kField:
      out += "f:";
      out += AsName();
      return;
    case Kind::kKey:
      out += "k:{";
      for (const KeyField& field : AsKey()) {
        if (out.back() != '{') out += ',';
        codec::AppendGoJsonString(out, field.name);
        out += ':';
        AppendGoJson(out, field.value);
      }
      out += '}';
      return;
    case Kind::kValue:
      out += "v:";
      AppendGoJson(out, AsValue());
      return;
    case Kind::kIndex:
      fmt::format_to(std::back_inserter(out), "i:{}", AsIndex());
      return;
  }
}

std::string PathElement::ToText() const {
  std::string out;
  switch (GetKind()) {
    case Kind::kField:
      return "." + AsName();
    case Kind::kKey:
      for (const KeyField& field : AsKey()) {
        out += (out.empty() ? "" : ",") + field.name + "=" + ValueText(field.value);
      }
      return "[" + out + "]";
    case Kind::kValue:
      return "[=" + ValueText(AsValue()) + "]";
    case Kind::kIndex:
      break;
  }
  return fmt::format("[{}]", AsIndex());
}

base::Result<ParsedElement> ParsePathElement(std::string_view text) {
  const auto fail = [](std::string message) {
    return base::Fail(base::Reason::kBadRequest, std::move(message));
  };
  if (text.size() < 2) return fail("key must be 2 characters long:");
  if (text[1] != ':') return fail(fmt::format("missing colon: {}", Shown(std::string(text))));
  const std::string_view content = text.substr(2);
  switch (text.front()) {
    case 'f':
      return ParsedElement{PathElement::Field(content)};
    case 'k': {
      auto key = ParseKey(content);
      if (!key) return tl::unexpected(key.error());
      return ParsedElement{PathElement::Key(*std::move(key))};
    }
    case 'v': {
      auto value = ParseValue(content);
      if (!value) return tl::unexpected(value.error());
      return ParsedElement{PathElement::Value(*std::move(value))};
    }
    case 'i': {
      const auto index = ParseElementIndex(content);
      if (!index) return fail(fmt::format("not a number: {}", Shown(std::string(content))));
      return ParsedElement{PathElement::Index(*index)};
    }
    default:
      return ParsedElement{.element = PathElement::Index(0), .known = false};
  }
}

std::string PathText(std::span<const PathElement> path) {
  std::string text;
  for (const PathElement& element : path) text += element.ToText();
  return text;
}

}  // namespace berth::merge
