// All range objects of one snapshot, and the other objects that change when one of them changes.
// Ranges depend on each other in ways that no single object shows:
//
// - Exactly one IPRange is primary. Making a range primary demotes the previous one.
// - The ServiceCIDR `kubernetes` and the IPRanges with the well-known names describe the same
//   ranges. A change of one is a change of the other.
//
// Pure. The snapshot must outlive its world.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/range_table.h"
#include "allocation/records.h"
#include "base/result.h"
#include "codec/value.h"
#include "ip/cidr.h"
#include "registry/kind_rows.h"
#include "state/snapshot.h"

namespace berth::allocation {

/// A range object of the snapshot.
struct RangeObject {
  const registry::Row* row = nullptr;
  state::ObjectPtr stored = {};
  codec::Value object = {};
  alloc::RangeFacts facts = {};

  std::string_view Name() const { return stored->Name(); }
};

/// A change of a range object.
struct RangeEdit {
  const registry::Row* row = nullptr;
  std::string name = {};
  const codec::Value* old = nullptr;   // Null if the range is new.
  const codec::Value* next = nullptr;  // Null if the range is deleted.
  /// The edit is that of the default ServiceCIDR, and the first ranges become what it says.
  bool resets = false;
};

/// Returns whether the edit deletes the range, or marks it as deleted while finalizers keep it. A
/// ServiceCIDR has a finalizer that keeps it until its values are not in use, so its deletion may
/// always begin; only its final removal counts.
bool IsGoing(const RangeEdit& edit, const RecordRows& rows);

/// An object that changes with the edit, in the same transaction.
struct Companion {
  const registry::Row* row = nullptr;
  std::string name = {};
  int64_t revision = 0;  // Revision of the existing object, or 0 if it is new.
  codec::Value object = {};
  bool goes = false;  // It is deleted.
};

class RangeWorld {
 public:
  RangeWorld(const RecordRows& rows, const registry::Gates& gates, const state::Snapshot& snapshot);

  const RangeObject* Find(const registry::Row& row, std::string_view name) const;
  /// Returns the primary IPRange, or null if none is primary.
  const RangeObject* Primary() const;

  alloc::RangeObjects Facts() const;

  /// Returns the CIDRs of the first IPRanges, the primary one first.
  std::vector<ip::Cidr> FirstCidrs() const;

  /// Returns the companions of the edit, or why the edit is not allowed. The managedFields, uid and
  /// times of the companions are not filled in.
  base::Result<std::vector<Companion>> CompanionsOf(const RangeEdit& edit) const;

 private:
  base::Result<void> CheckPrimary(const RangeEdit& edit) const;
  base::Result<void> CheckGoing(const RangeEdit& edit) const;
  void MovePrimary(const RangeEdit& edit, std::vector<Companion>& companions) const;
  void FollowCidr(const RangeEdit& edit, std::vector<Companion>& companions) const;
  void FollowRange(const RangeEdit& edit, std::vector<Companion>& companions) const;
  std::vector<Companion> Reset(const codec::Value& cidr) const;

  const RecordRows& rows_;
  std::map<std::string, RangeObject, std::less<>> objects_;
};

/// Returns a new IPRange for a CIDR.
codec::Value IpRangeOf(std::string_view name, std::string_view cidr, bool primary);

}  // namespace berth::allocation
