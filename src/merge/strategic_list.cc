#include "merge/strategic_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "merge/patch_errors.h"

namespace berth::merge {

using codec::Array;
using codec::Kind;
using codec::Object;
using codec::Value;

Kind TypeOf(const Value& value) {
  return value.GetKind() == Kind::kUint ? Kind::kDouble : value.GetKind();
}

std::optional<ScalarKey> KeyOf(const Value& scalar) {
  ScalarKey key{.kind = scalar.GetKind()};
  switch (key.kind) {
    case Kind::kNull:
      break;
    case Kind::kBool:
      key.bits = *scalar.AsBool() ? 1 : 0;
      break;
    case Kind::kInt:
      key.bits = static_cast<uint64_t>(*scalar.AsInt());
      break;
    case Kind::kUint:
      key.bits = *scalar.AsUint();
      break;
    case Kind::kDouble:
      key.bits = std::bit_cast<uint64_t>(*scalar.AsDouble() + 0.0);  // -0 is 0.
      break;
    case Kind::kString:
      key.text = *scalar.AsString();
      break;
    case Kind::kArray:
    case Kind::kObject:
      return std::nullopt;
  }
  return key;
}

base::Result<ScalarKey> ElementKeys::Of(const Value& element) const {
  if (!OfMaps()) {
    if (auto key = KeyOf(element)) return *key;
    // Only $setElementOrder is allowed for such a list.
    return BadPatch("invalid patch format of setElementOrder list");
  }
  const Object* map = element.AsObject();
  if (map == nullptr) return NotA(Kind::kObject, element);
  const Value* value = map->Find(merge_key_);
  const auto key = value == nullptr || value->IsNull() ? std::nullopt : KeyOf(*value);
  if (!key) {
    return Unmergeable(
        fmt::format("map: {} does not contain declared merge key: {}", GoText(*map), merge_key_));
  }
  return *key;
}

base::Result<KeyIndex> ElementKeys::IndexOf(const Array& list) const {
  KeyIndex index;
  for (size_t i = 0; i < list.size(); ++i) {
    const auto key = Of(list[i]);
    if (!key) return tl::unexpected(key.error());
    index.Add(*key, i);
  }
  return index;
}

base::Result<std::vector<size_t>> ElementKeys::FirstPlaces(const Array& list) const {
  const auto index = IndexOf(list);
  if (!index) return tl::unexpected(index.error());
  std::vector<size_t> places;
  places.reserve(list.size());
  for (const Value& element : list) places.push_back(index->Find(*Of(element)));
  return places;
}

std::vector<Element> Arranged(std::vector<Element> elements) {
  const auto split = std::stable_partition(elements.begin(), elements.end(),
                                           [](const Element& e) { return e.in_patch == kNowhere; });
  std::stable_sort(elements.begin(), split,
                   [](const Element& a, const Element& b) { return a.in_object < b.in_object; });
  std::stable_sort(split, elements.end(),
                   [](const Element& a, const Element& b) { return a.in_patch < b.in_patch; });
  std::vector<Element> list;
  list.reserve(elements.size());
  auto other = elements.begin();
  auto named = split;
  while (other != split || named != elements.end()) {
    const bool other_first =
        other != split && (named == elements.end() ||
                           (named->in_object != kNowhere && other->in_object < named->in_object));
    list.push_back(std::move(other_first ? *other++ : *named++));
  }
  return list;
}

Array ValuesOf(std::vector<Element> elements) {
  Array list;
  list.reserve(elements.size());
  for (Element& element : elements) list.push_back(std::move(element.value));
  return list;
}

base::Result<std::optional<Kind>> CommonKind(const Array& a, const Array& b) {
  std::optional<Kind> common;
  for (const Array* list : {&a, &b}) {
    for (const Value& element : *list) {
      const Kind kind = TypeOf(element);
      if (!common && kind == Kind::kArray) return DoesNotApply();
      if (kind == Kind::kNull || common.value_or(kind) != kind) {
        return Unmergeable(
            fmt::format("list element types are not identical: [{} {}]", GoText(a), GoText(b)));
      }
      common = kind;
    }
  }
  return common;
}

tl::unexpected<base::Error> NotA(Kind expected, const Value& found) {
  const Value example = expected == Kind::kArray ? Value(Array()) : Value(Object());
  return Unmergeable(
      fmt::format("expected a {}, but received a {}", GoTypeName(example), GoTypeName(found)));
}

}  // namespace berth::merge
