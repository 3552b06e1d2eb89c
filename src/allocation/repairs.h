// Repairs of records that do not say what the stored Services hold, because someone else wrote to
// the store. Each repair is one write, decided on the current snapshot and valid only for what it
// was decided on: the transaction compares the record, the Service, and the form of allocations,
// and the fence of the pool if a record is made. So a repair that comes too late changes nothing,
// several servers may repair at the same time, and no repair takes anything from a Service that
// exists.
//
// A value that two Services hold is never repaired. Only a person can say which of them keeps it.
//
// Bits are repaired elsewhere (allocation/forms/bitmap_repairer.h). Where bitmaps count, these
// repairs do nothing.
//
// Threads: every function may be called from any thread. The writes refer to this object.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/uuid_source.h"
#include "codec/value.h"
#include "commit/write.h"
#include "registry/kind_rows.h"

namespace berth::allocation {

/// A Service by name.
struct ServiceId {
  std::string name_space = {};
  std::string name = {};

  bool operator==(const ServiceId&) const = default;
};

/// Returns what the records of all values that the Service holds should say, except for what only
/// ranges tell. Valid as long as the Service.
std::vector<RecordFacts> FactsOfHeld(const codec::Value& service);

/// Fills in the range of the value, if `range` is known, and whether the client chose the value, as
/// far as the band of the value tells.
void AddRange(const std::optional<RangeState>& range, RecordFacts& facts);

/// Returns the Service that an allocated record names, or nullopt if the record names none.
std::optional<ServiceId> ServiceNamedBy(const RecordRows& rows, const state::Object& record);

class Repairs {
 public:
  struct Parts {
    const registry::Kinds& kinds;
    const Ledger& ledger;
    const base::Clock& clock;
  };
  /// All parts must outlive it.
  Repairs(const Parts& parts, const base::SeededRandom& random);

  /// Returns the write that makes the record of a value that the Service holds. Does nothing if
  /// there is a record, if the Service does not hold the value, if another one holds it too, or if
  /// no range contains it.
  commit::Write MakeRecord(const PoolValue& value, const ServiceId& service);

  /// Returns the write that makes the record say that the Service holds the value. Does nothing if
  /// the record has another revision, if the Service does not hold the value, if another one holds
  /// it too, or if the record reserves the value for another Service or for none.
  commit::Write RewriteRecord(const PoolValue& value, int64_t revision, const ServiceId& service);

  /// Returns the write that removes a record that says that a Service has the value. A record that
  /// also reserves the value stays, and is reserved again. Does nothing if the record has another
  /// revision, or if any Service holds the value.
  commit::Write ReleaseRecord(const PoolValue& value, int64_t revision);

 private:
  using Decided = commit::Decided;
  /// A Service of the snapshot that holds the value, and no other one does.
  struct Holder {
    std::string key;
    int64_t revision = 0;
    codec::Value service;
    RecordFacts facts;  // Refers to `service`.
  };

  Decided Make(const state::Snapshot& snapshot, const state::ObjectPtr& current,
               const PoolValue& value, const ServiceId& service);
  Decided Rewrite(const state::Snapshot& snapshot, const state::ObjectPtr& current,
                  const PoolValue& value, const ServiceId& service) const;
  Decided Release(const state::Snapshot& snapshot, const state::ObjectPtr& current,
                  const PoolValue& value) const;

  std::string ServiceKey(const ServiceId& service) const;
  /// Returns null if the Service is not the only one that holds the value.
  std::unique_ptr<Holder> SoleHolder(const state::Snapshot& snapshot, const PoolValue& value,
                                     const ServiceId& service) const;
  /// Returns the compare that makes the write valid only while the store keeps records, or nullopt
  /// if it does not keep them now.
  std::optional<commit::Compare> WhileRecordsCount(const state::Snapshot& snapshot) const;

  const Parts parts_;
  const RecordRows rows_;
  const registry::Row& services_;
  base::UuidSource uuids_;
};

}  // namespace berth::allocation
