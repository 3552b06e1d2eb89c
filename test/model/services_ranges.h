// The ranges of a world: what each range object says, which values it has, and which of them can be
// had from it. Read from the stored bytes, and written from what the documents say about ranges,
// not from the code that is checked.
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

#include "codec/value.h"

namespace berth::model {

enum class PoolOf : uint8_t { kIpv4, kIpv6, kPorts };
inline constexpr PoolOf kAllPools[] = {PoolOf::kIpv4, PoolOf::kIpv6, PoolOf::kPorts};

/// Of an address, "IPv4" or "IPv6".
std::string FamilyOf(const std::string& address);
PoolOf PoolOfFamily(const std::string& family);
/// Of an address or a number.
PoolOf PoolOfValue(const std::string& value);

/// "allocator.ipv4.k8s.io" and so on: these are always there.
std::string_view WellKnownName(PoolOf pool);

/// What a range object says.
struct RangeSpec {
  std::string name = {};
  PoolOf pool = PoolOf::kIpv4;
  std::string text = {};  // "10.96.0.0/27", "30000-30023".
  bool primary = false;
  bool disabled = false;
  bool strict = false;
  std::optional<int64_t> priority = {};
  std::optional<int64_t> band = {};
  std::set<std::string> excluded = {};  // One value each.
  int64_t cool_down = 0;                // Seconds.

  bool IsWellKnown() const { return name == WellKnownName(pool); }

  bool operator==(const RangeSpec&) const = default;
};
std::string ToText(const RangeSpec& spec);
/// Of an IPRange or a NodePortRange.
RangeSpec RangeFromValue(const codec::Value& object, bool ports);
/// All of its `spec`.
codec::Value SpecValue(const RangeSpec& spec);

/// One of them, with its values.
class Range {
 public:
  explicit Range(RangeSpec spec);

  const RangeSpec& spec() const { return spec_; }
  /// In order. What is excluded is among them.
  const std::vector<std::string>& values() const { return values_; }
  bool Has(const std::string& value) const { return places_.contains(value); }
  /// Whether anything new is taken from it, and that value.
  bool IsOpen() const { return !spec_.disabled; }
  bool Gives(const std::string& value) const {
    return IsOpen() && Has(value) && !spec_.excluded.contains(value);
  }
  /// Whether the value is kept for who asks for it by its name.
  bool IsStatic(const std::string& value, bool has_band) const {
    return has_band && places_.at(value) < band_;
  }
  /// Whether it can be given to one who does not.
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

/// All of them. Immutable.
class Cluster {
 public:
  using Specs = std::map<std::string, RangeSpec>;  // By "pool/name", see KeyOf.

  Cluster() = default;
  explicit Cluster(const Specs& specs) : Cluster(specs, Cluster()) {}
  /// What is as in `before` is taken over.
  Cluster(const Specs& specs, const Cluster& before);

  static std::string KeyOf(const RangeSpec& spec);
  Specs ToSpecs() const;
  const RangeSpec* Find(const std::string& key) const;
  const std::map<std::string, RangePtr>& All() const { return ranges_; }
  const std::vector<RangePtr>& At(PoolOf pool) const { return pools_[static_cast<size_t>(pool)]; }

  /// Of which something is open, the default one first.
  std::vector<std::string> Families() const;
  /// Whether a range has the value, and whether one that has it gives it.
  bool Covers(const std::string& value) const;
  bool Gives(const std::string& value) const;
  bool IsPickable(const std::string& value, bool has_band) const;
  /// How long the value is left alone once it is given back: the smallest range says it.
  std::set<int64_t> CoolDowns(const std::string& value) const;
  /// Any values that ranges of the pool have, each once.
  std::set<std::string> Values(PoolOf pool) const;

 private:
  std::map<std::string, RangePtr> ranges_;
  std::vector<RangePtr> pools_[3];
};

}  // namespace berth::model
