// Lists in a strategic merge: what of the object and what of the patch is the same element, and
// which order they get. For use inside merge.
//
// The order: elements that the patch (or its $setElementOrder) names come as it names them, all
// others as they were. One of the others goes before the next that is named if the object had them
// in that order.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "codec/value.h"

namespace berth::merge {

/// What tells elements apart: a scalar. Points into the Value it was made from, and does not
/// outlive a move of it.
struct ScalarKey {
  codec::Kind kind = codec::Kind::kNull;
  uint64_t bits = 0;
  std::string_view text = {};

  bool operator==(const ScalarKey&) const = default;

  template <typename H>
  friend H AbslHashValue(H state, const ScalarKey& key) {
    return H::combine(std::move(state), key.kind, key.bits, key.text);
  }
};

/// Nothing for lists and maps, which are never the same as another.
std::optional<ScalarKey> KeyOf(const codec::Value& scalar);

inline constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// Where each key is for the first time.
class KeyIndex {
 public:
  void Add(const ScalarKey& key, size_t position) { positions_.try_emplace(key, position); }

  size_t Find(const ScalarKey& key) const {
    const auto it = positions_.find(key);
    return it == positions_.end() ? kNowhere : it->second;
  }

 private:
  absl::flat_hash_map<ScalarKey, size_t> positions_;
};

/// How to find the key of an element: the member of that name, or the element itself if it is "".
class ElementKeys {
 public:
  explicit ElementKeys(std::string_view merge_key) : merge_key_(merge_key) {}

  bool OfMaps() const { return !merge_key_.empty(); }
  std::string_view Name() const { return merge_key_; }

  /// An error if the element is not of this kind.
  base::Result<ScalarKey> Of(const codec::Value& element) const;

  /// All elements of a list, which must stay as it is. An error if one has no key.
  base::Result<KeyIndex> IndexOf(const codec::Array& list) const;

  /// For each element of a list the place of the first with its key.
  base::Result<std::vector<size_t>> FirstPlaces(const codec::Array& list) const;

 private:
  std::string_view merge_key_;
};

/// An element on its way to its place.
struct Element {
  codec::Value value;
  size_t in_object = kNowhere;  // Where the object had one of its key.
  size_t in_patch = kNowhere;   // Where the patch names it.
};

/// In order.
std::vector<Element> Arranged(std::vector<Element> elements);

codec::Array ValuesOf(std::vector<Element> elements);

/// The type of a value as Go has it: a number beyond int64 is a float.
codec::Kind TypeOf(const codec::Value& value);

/// The type that all elements of both lists have; an error if they differ or are lists, nothing if
/// there are none.
base::Result<std::optional<codec::Kind>> CommonKind(const codec::Array& a, const codec::Array& b);

/// "expected a []interface {}, but received a string"
tl::unexpected<base::Error> NotA(codec::Kind expected, const codec::Value& found);

}  // namespace berth::merge
