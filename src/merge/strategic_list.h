// Lists in a strategic merge: which elements of the object and of the patch correspond, and in
// which order the result has them. For use inside merge.
//
// Elements that the patch (or its $setElementOrder) names are in the order of the patch, and all
// others in the order of the object. One of the others goes before the next named element if the
// object had them in that order.
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

/// A scalar that identifies an element. It points into the Value it was made from, and must not be
/// used after a move of that Value.
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

/// Returns nullopt for lists and maps, which never equal another element.
std::optional<ScalarKey> KeyOf(const codec::Value& scalar);

inline constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

/// The first position of each key.
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

/// Finds the key of an element: the member `merge_key`, or the element itself if `merge_key` is "".
class ElementKeys {
 public:
  explicit ElementKeys(std::string_view merge_key) : merge_key_(merge_key) {}

  bool OfMaps() const { return !merge_key_.empty(); }
  std::string_view Name() const { return merge_key_; }

  /// Returns an error if the element is not of this kind.
  base::Result<ScalarKey> Of(const codec::Value& element) const;

  /// Indexes all elements of a list, which must not change afterwards.
  /// Returns an error if one has no key.
  base::Result<KeyIndex> IndexOf(const codec::Array& list) const;

  /// Returns for each element of a list the position of the first one with its key.
  base::Result<std::vector<size_t>> FirstPlaces(const codec::Array& list) const;

 private:
  std::string_view merge_key_;
};

/// An element whose position is to be determined.
struct Element {
  codec::Value value;
  size_t in_object = kNowhere;  // Position of its key in the object.
  size_t in_patch = kNowhere;   // Position of its key in the patch.
};

/// Returns the elements in their final order.
std::vector<Element> Arranged(std::vector<Element> elements);

codec::Array ValuesOf(std::vector<Element> elements);

/// Returns the type of a value as Go has it: a number beyond int64 is a float.
codec::Kind TypeOf(const codec::Value& value);

/// Returns the type that all elements of both lists have. Returns nullopt if both lists are empty,
/// and an error if the types differ or the elements are lists.
base::Result<std::optional<codec::Kind>> CommonKind(const codec::Array& a, const codec::Array& b);

/// Returns an error like "expected a []interface {}, but received a string".
tl::unexpected<base::Error> NotA(codec::Kind expected, const codec::Value& found);

}  // namespace berth::merge
