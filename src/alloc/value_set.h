// A set of values that uses little memory for numbers below 2^32: IPv4 addresses and ports.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/uint128.h"

namespace berth::alloc {

/// Abseil's hash does not support 128-bit integers.
struct ValueHash {
  size_t operator()(base::U128 value) const {
    return absl::Hash<std::pair<uint64_t, uint64_t>>()({base::High64(value), base::Low64(value)});
  }
};

/// Not thread-safe.
class ValueSet {
 public:
  using U128 = base::U128;

  /// Insert and Erase return whether the set changed.
  bool Insert(U128 value) {
    if (IsNarrow(value)) return narrow_.insert(static_cast<uint32_t>(value)).second;
    return wide_.insert(value).second;
  }
  bool Erase(U128 value) {
    if (IsNarrow(value)) return narrow_.erase(static_cast<uint32_t>(value)) > 0;
    return wide_.erase(value) > 0;
  }
  bool Contains(U128 value) const {
    if (IsNarrow(value)) return narrow_.contains(static_cast<uint32_t>(value));
    return wide_.contains(value);
  }
  size_t Size() const { return narrow_.size() + wide_.size(); }

  /// Visits all values, in any order.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (const uint32_t value : narrow_) visit(U128{value});
    for (const U128 value : wide_) visit(value);
  }

 private:
  static bool IsNarrow(U128 value) { return value <= UINT32_MAX; }

  absl::flat_hash_set<uint32_t> narrow_;
  absl::flat_hash_set<U128, ValueHash> wide_;
};

}  // namespace berth::alloc
