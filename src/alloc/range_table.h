// The ranges that the allocator works with, made of what the range objects say. Pure.
//
// - Each IPRange and NodePortRange is a row. Each CIDR of a ServiceCIDR is one too, with defaults,
//   unless an IPRange has the same CIDR: that one speaks for it.
// - Families are those of open rows, the primary one's first; the order of the ServiceCIDR
//   `kubernetes` counts where no IPRange is primary.
// - A range that is being made smaller, moved or taken away is *closing*: in the pool that closes
//   its row is what it is without what it shall not have, and nobody is refused because of that
//   before it is decided (RangeTable::closing). What it shall have in addition it has when the
//   change is committed, not earlier. Families are not closed: they follow what is stored.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "alloc/layout.h"
#include "ip/addr.h"

namespace berth::alloc {

/// All values of one kind.
enum class PoolId : uint8_t { kIpv4, kIpv6, kPorts };
inline constexpr size_t kPools = 3;

inline PoolId PoolOf(ip::Family family) {
  return family == ip::Family::kV4 ? PoolId::kIpv4 : PoolId::kIpv6;
}

enum class RangeKind : uint8_t { kIpRange, kServiceCidr, kNodePortRange };

/// A range as the allocator sees it.
struct RangeRow {
  std::string name = {};  ///< Of the object that it comes from.
  std::string text = {};  ///< "10.96.0.0/16", "30000-32767". The same CIDR has the same text.
  Layout layout;
  int64_t priority = 0;  ///< Picks come from rows with a higher one first.
  bool open = true;      ///< Else nothing new is taken from it (drained, going away).
  bool leaving = false;  ///< It is going away: it is not open, and nobody may count on it.
  std::chrono::seconds cool_down{0};     ///< How long picks avoid a value that was given back.
  RangeKind kind = RangeKind::kIpRange;  ///< Of the object; what makes a table sets it.

  bool operator==(const RangeRow&) const = default;
};

/// What one range object says.
struct RangeFacts {
  RangeKind kind = RangeKind::kIpRange;
  bool primary = false;
  struct Part {
    PoolId pool = PoolId::kIpv4;
    RangeRow row;

    bool operator==(const Part&) const = default;
  };
  std::vector<Part> parts = {};  ///< In the object's order. Only a ServiceCIDR has more than one.

  bool operator==(const RangeFacts&) const = default;
};

/// By the key of the object in the store.
using RangeObjects = std::map<std::string, RangeFacts, std::less<>>;

/// What the fence of a pool says while ranges of it are closing.
struct Closing {
  std::string operation = {};  ///< Whose change it is.
  /// By the key of each range object that is changed: what it shall say; nothing: it shall be gone.
  std::map<std::string, std::optional<RangeFacts>, std::less<>> next = {};

  bool operator==(const Closing&) const = default;
};
using Closings = std::array<std::optional<Closing>, kPools>;

struct RangeTable {
  std::array<std::vector<RangeRow>, kPools> rows = {};
  std::vector<ip::Family> families = {};  ///< The default one first.
  std::array<bool, kPools> closing = {};
  /// The pool of the default family, whether anything of it is open or not.
  std::optional<PoolId> primary = {};
};

/// Rows come in the order of the keys. Costs the number of rows, but for sorting.
RangeTable MakeRangeTable(const RangeObjects& objects, const Closings& closings);

/// The usable values of some rows, open or not. Excluded ones are usable, the holes that a layout
/// has inside are not. A question costs the logarithm of the number of rows.
class Coverage {
 public:
  explicit Coverage(const std::vector<RangeRow>& rows);

  bool Covers(U128 value) const;
  bool CoversAll(const Coverage& other) const;

 private:
  std::vector<Interval> parts_;  ///< Ascending, disjoint, not touching.
};

/// The same for one question: whether a value is covered, and whether every value that `before`
/// covers is covered by `after`.
bool Covers(const std::vector<RangeRow>& rows, U128 value);
bool CoversAll(const std::vector<RangeRow>& after, const std::vector<RangeRow>& before);

}  // namespace berth::alloc
