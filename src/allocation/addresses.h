// The addresses and ports of Services. What a write of a Service takes and releases is decided
// here, and becomes part of the one transaction that writes the Service. Existing records are read
// from the snapshot, and the transaction expects them to be unchanged. A record that was reserved
// for the Service stays the same object. The record of a released value becomes reserved again,
// cools down, or is deleted, but only if it belongs to the Service that releases the value: a
// record of another Service is never touched. Refusals are in Kubernetes' words.
//
// Threads: every function may be called from any thread.
#pragma once

#include <functional>
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
#include "obs/allocator_metrics.h"
#include "rules/service_claims.h"
#include "state/snapshot.h"

namespace berth::allocation {

class Addresses {
 public:
  /// All must outlive it; `metrics` may be null.
  Addresses(Ledger& ledger, const RecordRows& rows, const base::Clock& clock,
            const base::SeededRandom& random, obs::AllocatorMetrics* metrics = nullptr);

  /// What a write of a Service puts and deletes beside the Service itself. It must be added to the
  /// decision of the write, whose outcome ends the grant.
  struct ExtraWrites {
    std::vector<commit::ExtraPut> puts = {};
    std::vector<commit::ExtraDelete> deletes = {};
    std::vector<commit::SharedPut> shared = {};
    std::vector<commit::Compare> compares = {};
    std::function<void(bool committed)> on_outcome = {};

    void AddTo(commit::Decision& decision) &&;
  };

  /// A write of a Service. `service` is complete and valid. `old` is the Service that it replaces,
  /// or null if the Service is new.
  struct ServiceWrite {
    codec::Value& service;
    const codec::Value* old = nullptr;
    const rules::ServiceClaims& claims;
  };
  /// Takes and releases values, and fills those it takes into the Service. Each attempt of a write
  /// calls it again, with the same Service. The ticket belongs to the write and is null at first.
  tl::expected<ExtraWrites, commit::Refusal> Change(const ServiceWrite& write,
                                                    const state::Snapshot& snapshot,
                                                    TicketPtr& ticket);

  /// Releases everything that `old` holds.
  ExtraWrites Remove(const codec::Value& old, const state::Snapshot& snapshot);

 private:
  /// A grant in flight, and what is counted when it is committed.
  struct PendingGrant {
    Grant grant;
    std::vector<bool> requested;  // For each take, whether the client asked for that value.
    base::SteadyTime begin;
  };

  using Claims = std::vector<Claim>;

  /// Makes the claims name the ranges that the Service names. Returns an error if that is not
  /// possible.
  std::optional<base::Error> NameRanges(const ServiceWrite& write, Claims& wanted) const;
  std::optional<base::Error> NameAddressRanges(const ServiceWrite& write, Claims& wanted) const;
  commit::Refusal Deny(const ServiceWrite& write, const Claims& wanted,
                       const state::Snapshot& snapshot, Denial denial) const;
  void Take(const ServiceWrite& write, const PendingGrant& pending, const state::Snapshot& snapshot,
            ExtraWrites& extra);
  commit::ExtraPut TakeRecord(const ServiceWrite& write, const TakenValue& take,
                              const RecordFacts& facts, const state::Snapshot& snapshot);
  /// Returns what the records of the taken values say, in the order of the takes.
  std::vector<RecordFacts> FactsOf(const ServiceWrite& write, const PendingGrant& pending) const;
  void Release(const Owner& owner, const PendingGrant& pending, const state::Snapshot& snapshot,
               ExtraWrites& extra) const;
  /// Updates the records of ports that the Service keeps but uses for other purposes.
  void UpdatePortPurposes(const ServiceWrite& write, const state::Snapshot& snapshot,
                          ExtraWrites& extra) const;
  std::function<void(bool)> EndGrantLater(PendingGrant pending) const;
  /// Changes writes that were made for records to the form in which the store keeps allocations.
  static void ApplyForm(const Grant& grant, const state::Snapshot& snapshot, ExtraWrites& extra);
  void CountTaken(const PendingGrant& pending) const;
  void CountDenied(const Claim& claim, Denial::Why why) const;

  Ledger& ledger_;
  const RecordRows rows_;
  RecordMaker maker_;
  const base::Clock& clock_;
  obs::AllocatorMetrics* const metrics_;
  base::UuidSource uuids_;
};

}  // namespace berth::allocation
