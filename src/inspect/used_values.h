// All values of a cluster that are not free, compactly and in order: for maps and tables that go
// over a million of them while a person looks. A census has the same facts, but each of them lies
// in another place of the memory.
//
// It points into the census and the cluster, which must outlive it. It costs about 40 bytes for
// each value. Immutable; safe from any thread. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"
#include "alloc/state.h"
#include "base/uint128.h"
#include "inspect/census.h"

namespace berth::inspect {

/// How many Services have a value.
enum class Owners : uint8_t {
  kNone,  ///< Only a record says that it is not free.
  kOne,
  kSeveral,  ///< A fault of the cluster. The first one is told.
};

struct UsedValue {
  base::U128 value = 0;
  /// The position of the Service in Cluster::services or, without one, that of the record in
  /// Cluster::records.
  uint32_t position = 0;
  uint32_t name_space = 0;  ///< A position in UsedValues::namespaces; 0 means none.
  uint32_t created =
      0;             ///< When the Service or the record was made, seconds since 1970; 0: unknown.
  uint8_t type = 0;  ///< A position in UsedValues::types; 0 means none.
  Owners owners = Owners::kNone;
  Origin origin = Origin::kUnknown;
  alloc::State state = alloc::State::kTaken;
};

class UsedValues {
 public:
  explicit UsedValues(const Census& census);

  /// Returns the values of an interval in ascending order, each once.
  std::span<const UsedValue> In(alloc::PoolId pool, const alloc::Interval& values) const;

  /// Returns the names of namespaces and of types. The first one is empty.
  const std::vector<std::string_view>& namespaces() const { return namespaces_; }
  const std::vector<std::string_view>& types() const { return types_; }

  /// Returns the Service that has the value, or null.
  const Service* ServiceOf(const UsedValue& used) const;
  /// Returns the record if no Service has the value, or null.
  const Record* RecordOf(const UsedValue& used) const;
  /// Returns "shop/web": who has the value, or for whom it is kept. May be empty.
  std::string OwnerOf(const UsedValue& used) const;

  /// All values of a pool, and a number for the owners of each that is the same for equal owners.
  struct PoolValues {
    std::vector<UsedValue> values = {};
    std::vector<uint32_t> owners = {};
  };
  const PoolValues& Of(alloc::PoolId pool) const { return pools_[pool]; }
  const Cluster& cluster() const { return cluster_; }

 private:
  class Filler;

  const Cluster& cluster_;
  alloc::PerPool<PoolValues> pools_;
  std::vector<std::string_view> namespaces_ = {""};
  std::vector<std::string_view> types_ = {""};
};

}  // namespace berth::inspect
