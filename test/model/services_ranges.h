// The ranges of a world: the spec of each range object, its values, and which of them can be
// allocated. They are read from the stored bytes. The rules follow the documentation of ranges, not
// the code under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "alloc/pool_id.h"
#include "codec/value.h"

namespace berth::model {

using PoolOf = alloc::PoolId;
using alloc::kAllPools;

/// Returns the family of an address, "IPv4" or "IPv6".
std::string FamilyOf(const std::string& address);
PoolOf PoolOfFamily(const std::string& family);
/// Returns the pool of an address or a port number.
PoolOf PoolOfValue(const std::string& value);

/// Returns "allocator.ipv4.k8s.io" and so on. These ranges always exist.
std::string_view WellKnownName(PoolOf pool);

/// The spec of a range object.
struct RangeSpec {
  std::string name = {};
  PoolOf pool = PoolOf::kIpv4;
  std::string text = {};  // "10.96.0.0/27", "30000-30023".
  bool primary = false;
  bool disabled = false;
  bool strict = false;
  std::optional<int64_t> priority = {};
  std::optional<int64_t> band = {};
  std::set<std::string> excluded = {};  // Single values.
  int64_t cool_down = 0;                // Seconds.

  bool IsWellKnown() const { return name == WellKnownName(pool); }

  bool operator==(const RangeSpec&) const = default;
};
std::string ToText(const RangeSpec& spec);
/// Reads an IPRange or a NodePortRange.
RangeSpec RangeFromValue(const codec::Value& object, bool ports);
/// Returns the complete `spec`.
codec::Value SpecValue(const RangeSpec& spec);

/// A range with its values.
class Range {
 public:
  explicit Range(RangeSpec spec);

  const RangeSpec& spec() const { return spec_; }
  /// Returns all values in order, including excluded ones.
  const std::vector<std::string>& values() const { return values_; }
  bool Has(const std::string& value) const { return places_.contains(value); }
  /// Return whether the range accepts new allocations, and whether it can give out that value.
  bool IsOpen() const { return !spec_.disabled; }
  bool Gives(const std::string& value) const {
    return IsOpen() && Has(value) && !spec_.excluded.contains(value);
  }
  /// Returns whether the value is in the static band.
  bool IsStatic(const std::string& value, bool has_band) const {
    return has_band && places_.at(value) < band_;
  }
  /// Returns whether the value can be given to a request that does not name it.
  bool IsPickable(const std::string& value, bool has_band) const {
    return Gives(value) && !(spec_.strict && IsStatic(value, has_band));
  }
  int64_t Priority() const;

 private:
  RangeSpec spec_;
  std::vector<std::string> values_;
  std::unordered_map<std::string, size_t> places_;
  size_t band_ = 0;
};
using RangePtr = std::shared_ptr<const Range>;

/// All ranges. Immutable.
class Cluster {
 public:
  using Specs = std::map<std::string, RangeSpec>;  // By "pool/name", see KeyOf.

  Cluster() = default;
  explicit Cluster(const Specs& specs) : Cluster(specs, Cluster()) {}
  /// Reuses the ranges that are equal in `before`.
  Cluster(const Specs& specs, const Cluster& before);

  static std::string KeyOf(const RangeSpec& spec);
  Specs ToSpecs() const;
  const RangeSpec* Find(const std::string& key) const;
  const std::map<std::string, RangePtr>& All() const { return ranges_; }
  const std::vector<RangePtr>& At(PoolOf pool) const { return pools_[pool]; }

  /// Returns the families that have an open range, the default one first.
  std::vector<std::string> Families() const;
  /// Return whether a range has the value, and whether such a range can give it out.
  bool Covers(const std::string& value) const;
  bool Gives(const std::string& value) const;
  bool IsPickable(const std::string& value, bool has_band) const;
  /// Returns for how long a released value cools down. The smallest range that has the value
  /// decides.
  std::set<int64_t> CoolDowns(const std::string& value) const;
  /// Returns the values of all ranges of the pool.
  std::set<std::string> Values(PoolOf pool) const;

 private:
  std::map<std::string, RangePtr> ranges_;
  alloc::PerPool<std::vector<RangePtr>> pools_;
};

}  // namespace berth::model
