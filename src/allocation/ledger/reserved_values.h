// The values that records keep for Services (reservations and holds), also while the Service has
// the value; and the revisions of cooling records. Most records are neither, and cost nothing here.
//
// Not thread-safe; guarded by Ledger's mutex.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "alloc/value_set.h"
#include "allocation/claims/claims.h"
#include "allocation/claims/record_info.h"

namespace berth::allocation {

/// A value that is reserved or held for a Service.
struct ReservedValue {
  std::string service = {};  // "namespace/name".
  RecordState state = RecordState::kReserved;
  int64_t revision = 0;  // Of the record.
};

/// Returns whether `service` is the "namespace/name" of the claimant.
bool IsFor(const std::string& service, const Claimant& claimant);

class ReservedValues {
 public:
  /// Notes what a record says. Revision 0 means that the record no longer exists.
  void Note(const RecordInfo& info, int64_t revision);
  void Clear();

  /// Returns null if the value is not kept for a Service.
  const ReservedValue* Find(const PoolValue& value) const;
  /// Returns the values that are kept for a Service, of all pools.
  std::span<const PoolValue> For(const Claimant& claimant) const;
  /// Returns all values of a pool that are kept for Services.
  const std::map<U128, ReservedValue>& In(PoolId pool) const { return reserved_[pool]; }

  /// Returns the revision of a value's cooling record, or 0 if it has none.
  int64_t CoolingRevision(const PoolValue& value) const;

 private:
  void Reserve(const PoolValue& value, ReservedValue reserved);
  void Forget(const PoolValue& value);

  PerPool<std::map<U128, ReservedValue>> reserved_;
  std::map<std::string, std::vector<PoolValue>> by_service_;
  PerPool<absl::flat_hash_map<U128, int64_t, alloc::ValueHash>> cooling_;
};

}  // namespace berth::allocation
