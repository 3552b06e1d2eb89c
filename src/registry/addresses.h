// The addresses and ports of Services: what a write of a Service takes and gives back is planned
// here and becomes part of the one transaction that writes the Service. Refusals are in Kubernetes'
// words.
//
// Threads: every function may be called from any thread.
#pragma once

#include <functional>
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
    std::vector<commit::Guard> guards = {};
    std::function<void(bool committed)> settle = {};

    void AddTo(commit::Decision& decision) &&;
  };

  /// `service` is complete and valid; it gets the values that it takes, the same way each time it
  /// is called. The ticket is the write's own, null at first.
  tl::expected<Plan, commit::Refusal> Change(codec::Value& service,
                                             const rules::ServiceClaims& claims,
                                             commit::Allocations::TicketPtr& ticket);

  /// All that `old` holds goes back.
  Plan Remove(const codec::Value& old);

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

  commit::Refusal Deny(const codec::Value& service, const rules::ServiceClaims& claims,
                       const std::vector<commit::Claim>& wanted,
                       commit::Allocations::Denial denial) const;
  void Take(const codec::Value& service, const rules::ServiceClaims& claims, const Planned& planned,
            Plan& plan) EXCLUDES(mutex_);
  Plan Give(Planned planned) const;
  void CountTaken(const Planned& planned) const;
  void CountDenied(const commit::Claim& claim, bool full) const;
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
