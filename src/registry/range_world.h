// All range objects of one picture, and what a change of one of them brings with it: ranges belong
// together in ways that no single object shows.
//
// - Exactly one IPRange is primary: one that becomes it takes that from the other.
// - The ServiceCIDR `kubernetes` and the IPRanges of the well-known names are one thing in two
//   forms: a change of one is a change of the other.
//
// Pure. A picture must outlive its world.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/range_table.h"
#include "base/result.h"
#include "codec/value.h"
#include "registry/kinds.h"
#include "registry/records.h"
#include "state/snapshot.h"

namespace berth::registry {

/// A range object as it is.
struct RangeObject {
  const Row* row = nullptr;
  state::ObjectPtr stored = {};
  codec::Value object = {};
  alloc::RangeFacts facts = {};

  std::string_view Name() const { return stored->Name(); }
};

/// One that changes.
struct RangeEdit {
  const Row* row = nullptr;
  std::string name = {};
  const codec::Value* old = nullptr;   // Null: it is new.
  const codec::Value* next = nullptr;  // Null: it goes.
};

/// Whether it goes with this, or is only kept by finalizers from now on. A ServiceCIDR has one that
/// keeps it until nothing needs it, so that it may always begin to go.
bool IsGoing(const RangeEdit& edit, const RecordRows& rows);

/// What changes with it, in the same transaction.
struct Companion {
  const Row* row = nullptr;
  std::string name = {};
  int64_t revision = 0;  // Of what is there; 0: it is new.
  codec::Value object = {};
};

class RangeWorld {
 public:
  RangeWorld(const RecordRows& rows, const Gates& gates, const state::Snapshot& picture);

  /// By key.
  const std::map<std::string, RangeObject, std::less<>>& Objects() const { return objects_; }
  const RangeObject* Find(const Row& row, std::string_view name) const;
  /// The IPRange that is primary; null: none is.
  const RangeObject* Primary() const;

  alloc::RangeObjects Facts() const;

  /// Why the edit cannot be, or what comes with it. Their managedFields, uid and times are not
  /// filled in.
  base::Result<std::vector<Companion>> CompanionsOf(const RangeEdit& edit) const;

 private:
  base::Result<void> CheckPrimary(const RangeEdit& edit) const;
  base::Result<void> CheckGoing(const RangeEdit& edit) const;
  void MovePrimary(const RangeEdit& edit, std::vector<Companion>& companions) const;
  void FollowCidr(const RangeEdit& edit, std::vector<Companion>& companions) const;
  void FollowRange(const RangeEdit& edit, std::vector<Companion>& companions) const;

  const RecordRows& rows_;
  std::map<std::string, RangeObject, std::less<>> objects_;
};

/// A new IPRange for a CIDR.
codec::Value IpRangeOf(std::string_view name, std::string_view cidr, bool primary);

}  // namespace berth::registry
