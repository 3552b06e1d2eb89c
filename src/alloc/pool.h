// All values of one kind (IPv4 addresses, IPv6 addresses or ports): the ranges they may be given
// out from, and an index of each. Ranges may overlap: a value that is held is held in every range
// that contains it. Values outside of every range may be held as well; nobody is given them.
//
// Not thread-safe. Nothing here is durable, see Index.
#pragma once

#include <absl/container/flat_hash_set.h>
#include <absl/hash/hash.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alloc/index.h"
#include "alloc/layout.h"
#include "base/random.h"

namespace berth::alloc {

/// A range as the allocator sees it.
struct RangeRow {
  std::string name = {};  ///< Of the object that it comes from.
  std::string text = {};  ///< "10.96.0.0/16", "30000-32767".
  Layout layout;
};

/// A set of values that takes little room for numbers below 2^32.
class ValueSet {
 public:
  /// Whether that changed anything.
  bool Insert(U128 value);
  bool Erase(U128 value);
  bool Contains(U128 value) const;
  size_t Size() const { return narrow_.size() + wide_.size(); }

  /// Those that lie in it, ascending.
  std::vector<U128> In(const Interval& interval) const;

 private:
  struct Hash {
    size_t operator()(U128 value) const {
      return absl::Hash<std::pair<uint64_t, uint64_t>>()({base::High64(value), base::Low64(value)});
    }
  };

  absl::flat_hash_set<uint32_t> narrow_;
  absl::flat_hash_set<U128, Hash> wide_;
};

class Pool {
 public:
  struct Range {
    std::string name;
    std::string text;
    Index index;
  };

  /// Takes the place of all ranges there were; what is held stays held. Ranges that stay as they
  /// are keep their index.
  void SetRanges(std::vector<RangeRow> rows);
  const std::vector<Range>& ranges() const { return ranges_; }

  /// Whatever ranges it lies in, if any; and back. Whether that changed anything.
  bool Hold(U128 value);
  bool Drop(U128 value);
  bool IsHeld(U128 value) const { return held_.Contains(value); }

  /// A given value, which must be a usable one of some range: Hold, or why not.
  Outcome Take(U128 value);

  /// Any free value, from the range with the most free ones. Nothing: all are full.
  std::optional<U128> TakeAny(base::Random& random);

  /// How many values TakeAny could hand out. Values in several ranges count several times.
  U128 Available() const;

  /// The first range with this value; null: none has it.
  const Range* Find(U128 value) const;

 private:
  ValueSet held_;
  std::vector<Range> ranges_;
};

}  // namespace berth::alloc
