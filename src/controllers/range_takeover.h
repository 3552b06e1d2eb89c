// Lets the ranges of --service-cluster-ip-range take over from the first ranges of the store, when
// those are on their way out and empty. This is the last step of replacing the default range: the
// ServiceCIDR `kubernetes` was deleted, or its IPRange was disabled, and no Service except
// default/kubernetes has an address of it any more. That Service moves to the first address of the
// new range.
//
// Every step can be repeated. After a crash, the next start of a server with these flags continues.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/range_changes.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "base/result.h"
#include "controllers/controller_context.h"
#include "ip/cidr.h"
#include "registry/registry.h"
#include "state/snapshot.h"

namespace berth::controllers {

/// All must outlive the takeover.
struct TakeoverParts {
  registry::Registry& registry;
  state::Follower& follower;
  allocation::RangeChanges& ranges;
};

/// Returns whether the store has other first ranges than `cidrs`, and each of them that would
/// change is on its way out: it is disabled, or the ServiceCIDR is being deleted.
bool AwaitsTakeover(const allocation::RecordRows& rows, const state::Snapshot& snapshot,
                    std::span<const ip::Cidr> cidrs);

using TakenOver = std::function<void(base::Result<void>)>;

/// Checks whether `cidrs` can become the first ranges as soon as default/kubernetes has moved.
/// Changes nothing. `done` is called exactly once, on any thread, with an error that names what
/// blocks it.
void CheckTakeover(const TakeoverParts& parts, const std::vector<ip::Cidr>& cidrs, TakenOver done);

/// Makes `cidrs` the first ranges, the primary one first, after that check. Deletes
/// default/kubernetes if it has to move; who calls creates it again. `done` is called exactly once,
/// on any thread.
void TakeOver(const TakeoverParts& parts, const std::vector<ip::Cidr>& cidrs, TakenOver done);

/// Takes over as soon as that is possible. Threads: that of the controllers.
class RangeTakeover {
 public:
  /// `cidrs` is empty if no flag was set. `moved` is called after each takeover.
  RangeTakeover(const Context& context, allocation::Ledger& ledger,
                allocation::RangeChanges& ranges, std::vector<ip::Cidr> cidrs,
                std::function<void()> moved);

  /// Returns whether there was anything to do.
  bool Work();
  base::SteadyTime NextDue() const;

 private:
  /// A refused attempt.
  struct Refused {
    uint64_t changes = 0;  // The ledger's count of changes at that time.
    base::SteadyTime since = {};
  };

  bool IsHeld() const;
  bool MayTry() const;
  void End(const base::Result<void>& outcome);

  const Context context_;
  allocation::Ledger& ledger_;
  const TakeoverParts parts_;
  const allocation::RecordRows rows_;
  const std::vector<ip::Cidr> cidrs_;
  const std::function<void()> moved_;
  base::SteadyTime due_;
  bool under_way_ = false;
  std::optional<Refused> refused_;
};

}  // namespace berth::controllers
