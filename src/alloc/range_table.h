// The ranges that the allocator works with, derived from the range objects. Pure.
//
// - Each IPRange and NodePortRange is a row. Each CIDR of a ServiceCIDR is a row too, with default
//   options, unless an IPRange has the same CIDR. Then the IPRange's row applies.
// - The families are those of open rows, the primary one's first. If no IPRange is primary, the
//   order of the ServiceCIDR `kubernetes` decides.
// - While the ServiceCIDR `kubernetes` is being deleted, the IPRanges of its CIDRs are not open, as
//   long as another row of the same pool can serve.
// - A range that is being shrunk, moved or deleted is *closing*. In the pool that is closing, its
//   row has only the values that it has both before and after the change. No request is refused
//   because of that before the change is decided (RangeTable::closing). Values that the change adds
//   become available when the change is committed, not earlier. Families are not affected by
//   closing: they follow the stored objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "ip/addr.h"

namespace berth::alloc {

enum class RangeKind : uint8_t { kIpRange, kServiceCidr, kNodePortRange };

/// A range as the allocator sees it.
struct RangeRow {
  std::string name = {};  ///< Name of the source object.
  std::string text = {};  ///< "10.96.0.0/16", "30000-32767". The same CIDR has the same text.
  Layout layout;
  int64_t priority = 0;  ///< Picks prefer rows with a higher priority.
  bool open = true;      ///< If false, nothing new is taken from it (drained, leaving).
  bool leaving = false;  ///< It is being deleted: it is not open, and nothing may rely on it.
  /// It is not open because its ServiceCIDR is being deleted and others serve; set by
  /// MakeRangeTable.
  bool makes_way = false;
  std::chrono::seconds cool_down{0};     ///< How long picks avoid a released value.
  RangeKind kind = RangeKind::kIpRange;  ///< Kind of the object; set by MakeRangeTable.

  bool operator==(const RangeRow&) const = default;
};

/// The contents of one range object.
struct RangeFacts {
  RangeKind kind = RangeKind::kIpRange;
  bool primary = false;
  struct Part {
    PoolId pool = PoolId::kIpv4;
    RangeRow row;

    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts = {};  ///< In the object's order. Only a ServiceCIDR has several.

  bool operator==(const RangeFacts&) const = default;
};

/// Keyed by the key of the object in the store.
using RangeObjects = std::map<std::string, RangeFacts, std::less<>>;

/// The contents of a pool's fence while ranges of the pool are closing.
struct Closing {
  std::string operation = {};  ///< The operation that makes the change.
  /// The future contents of each changed range object, by its key. Nullopt means that the object is
  /// to be deleted.
  std::map<std::string, std::optional<RangeFacts>, std::less<>> next = {};

  bool operator==(const Closing&) const = default;
};
using Closings = PerPool<std::optional<Closing>>;

struct RangeTable {
  PerPool<std::vector<RangeRow>> rows = {};
  std::vector<ip::Family> families = {};  ///< The default one first.
  PerPool<bool> closing = {};
  /// The pool of the default family, whether or not any of its ranges is open.
  std::optional<PoolId> primary = {};
};

/// Makes the table of all range objects. Rows are in the order of the keys. The cost is linear in
/// the number of rows, apart from sorting.
RangeTable MakeRangeTable(const RangeObjects& objects, const Closings& closings);

/// The usable values of some rows, open or not. Excluded values are usable; the holes inside a
/// layout are not. A lookup costs the logarithm of the number of rows.
class Coverage {
 public:
  explicit Coverage(const std::vector<RangeRow>& rows);

  bool Covers(U128 value) const;
  bool CoversAll(const Coverage& other) const;

 private:
  std::vector<Interval> parts_;  ///< Ascending, disjoint, not touching.
};

/// Answer a single question without a Coverage: whether a value is covered, and whether `after`
/// covers every value that `before` covers.
bool Covers(const std::vector<RangeRow>& rows, U128 value);
bool CoversAll(const std::vector<RangeRow>& after, const std::vector<RangeRow>& before);

}  // namespace berth::alloc
