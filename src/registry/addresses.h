// The addresses and ports of Services: what a write of a Service takes and gives back is planned
// here and becomes part of the one transaction that writes the Service. Records that are there
// already are read in the picture and expected to be still so: what was kept for the Service stays
// the object it is, and what it gives back is reserved again, or cools down, or goes. Refusals are
// in Kubernetes' words.
//
// Threads: every function may be called from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "codec/value.h"
#include "commit/allocations.h"
#include "commit/write.h"
#include "obs/allocator_metrics.h"
#include "registry/records.h"
#include "rules/service_claims.h"
#include "state/follower.h"

namespace berth::registry {

class Addresses {
 public:
  /// All must outlive it; `metrics` may be null.
  Addresses(commit::Allocations& allocations, const RecordRows& rows, const base::Clock& clock,
            const base::SeededRandom& random, obs::AllocatorMetrics* metrics = nullptr);

  /// What a write puts and deletes beside the Service itself. To be added to its decision, which
  /// settles it.
  struct Plan {
    std::vector<commit::ExtraPut> puts = {};
    std::vector<commit::ExtraDelete> deletes = {};
    std::vector<commit::SharedPut> shared = {};
    std::vector<commit::Compare> compares = {};
    std::function<void(bool committed)> settle = {};

    void AddTo(commit::Decision& decision) &&;
  };

  /// A write of a Service. `service` is complete and valid; `old` is what it replaces, null: it is
  /// new.
  struct ServiceWrite {
    codec::Value& service;
    const codec::Value* old = nullptr;
    const rules::ServiceClaims& claims;
  };
  /// The Service gets the values that it takes, the same way each time it is called. The ticket is
  /// the write's own, null at first.
  tl::expected<Plan, commit::Refusal> Change(const ServiceWrite& write,
                                             const state::Follower& follower,
                                             commit::Allocations::TicketPtr& ticket);

  /// All that `old` holds goes back.
  Plan Remove(const codec::Value& old, const state::Follower& follower);

  commit::Allocations& GetAllocations() { return allocations_; }

  /// Families of which Services can get addresses, the default one first.
  std::vector<ip::Family> Families() const { return allocations_.Families(); }

 private:
  using Granted = commit::Allocations::Grant;

  /// A grant on its way, and what is counted of it when it is committed.
  struct Planned {
    Granted grant;
    std::vector<bool> given;  // Of each take: asked for by its value.
    base::SteadyTime begin;
  };

  using Claims = std::vector<commit::Claim>;

  /// Has the claims come from the ranges that the Service names; why that cannot be.
  std::optional<base::Error> NameRanges(const ServiceWrite& write, Claims& wanted) const;
  std::optional<base::Error> NameAddressRanges(const ServiceWrite& write, Claims& wanted) const;
  commit::Refusal Deny(const ServiceWrite& write, const Claims& wanted,
                       const state::Follower& follower, commit::Allocations::Denial denial) const;
  void Take(const ServiceWrite& write, const Planned& planned, const state::Follower& follower,
            Plan& plan) EXCLUDES(mutex_);
  commit::ExtraPut TakeRecord(const ServiceWrite& write, const commit::Allocations::Take& take,
                              const RecordFacts& facts, const state::Follower& follower)
      EXCLUDES(mutex_);
  /// What the records of taken values say, in the order of the takes.
  std::vector<RecordFacts> FactsOf(const ServiceWrite& write, const Planned& planned) const;
  void Give(const Owner& owner, const Planned& planned, const state::Follower& follower,
            Plan& plan) const;
  /// What ports that the Service keeps are for.
  void Rededicate(const ServiceWrite& write, const state::Follower& follower, Plan& plan) const;
  std::function<void(bool)> SettleLater(Planned planned) const;
  /// A plan made of records, in the form that the store keeps allocations in.
  static void InForm(const Granted& grant, Plan& plan);
  void CountTaken(const Planned& planned) const;
  void CountDenied(const commit::Claim& claim, commit::Allocations::Why why) const;
  std::string NewUid() EXCLUDES(mutex_);

  commit::Allocations& allocations_;
  const RecordRows rows_;
  RecordMaker maker_;
  const base::Clock& clock_;
  obs::AllocatorMetrics* const metrics_;

  base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
};

}  // namespace berth::registry
