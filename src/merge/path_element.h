// One step of the path to a field, as server-side apply names it:
//
//   f:ports                            a field of a struct, or an entry of a map
//   k:{"port":80,"protocol":"TCP"}     an entry of a list, by the values of its keys
//   v:"example.com/keep"               an entry of a list that is a set
//   i:3                                an entry of a list, by its index
//
// Elements are ordered as in Kubernetes: by kind as above, names by bytes, keys by name and value,
// and values so that numbers compare as numbers. Two elements are equal if neither is less, so 1
// and 1.0 are the same entry. Pure values, safe to read from any thread.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "codec/value.h"

namespace berth::merge {

struct KeyField {
  std::string name;
  codec::Value value;
};

/// Sorted by name.
using ListKey = std::vector<KeyField>;

class PathElement {
 public:
  enum class Kind : uint8_t { kField, kKey, kValue, kIndex };

  static PathElement Field(std::string_view name) { return PathElement(std::string(name)); }
  static PathElement Key(ListKey key) {
    return PathElement(std::make_shared<const ListKey>(std::move(key)));
  }
  static PathElement Value(codec::Value value) {
    return PathElement(std::make_shared<const codec::Value>(std::move(value)));
  }
  static PathElement Index(int64_t index) { return PathElement(index); }

  Kind GetKind() const { return static_cast<Kind>(data_.index()); }

  /// Returns null if the element is of another kind.
  const std::string* AsField() const { return std::get_if<std::string>(&data_); }

  std::weak_ordering operator<=>(const PathElement& other) const;
  bool operator==(const PathElement& other) const { return (*this <=> other) == 0; }

  /// Appends `f:ports` and the like.
  void AppendTo(std::string& out) const;

  /// Returns the element as messages show it: `.ports`, `[port=80,protocol="TCP"]`,
  /// `[="example.com/keep"]`, `[3]`.
  std::string ToText() const;

 private:
  // In the order of Kind. Keys and values are shared, since elements are copied from set to set.
  using Data = std::variant<std::string, std::shared_ptr<const ListKey>,
                            std::shared_ptr<const codec::Value>, int64_t>;

  const std::string& AsName() const { return *std::get_if<std::string>(&data_); }
  const ListKey& AsKey() const { return **std::get_if<1>(&data_); }
  const codec::Value& AsValue() const { return **std::get_if<2>(&data_); }
  int64_t AsIndex() const { return *std::get_if<int64_t>(&data_); }

  explicit PathElement(Data data) : data_(std::move(data)) {}

  Data data_;
};

/// The result of parsing AppendTo's text.
struct ParsedElement {
  PathElement element;
  bool known = true;  // If false, the kind is unknown, and the element is to be ignored.
};
base::Result<ParsedElement> ParsePathElement(std::string_view text);

/// Returns a path like `.spec.ports[port=80,protocol="TCP"].targetPort`.
std::string PathText(std::span<const PathElement> path);

}  // namespace berth::merge
