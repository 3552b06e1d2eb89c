// The allocator as the rest of the server sees it: hooks for the registry, which add to each write
// of a Service, a record or a range what has to be taken, released, compared or closed with it.
//
// Threads: every function may be called from any thread.
#pragma once

#include <vector>

#include "allocation/addresses.h"
#include "allocation/ledger/ledger.h"
#include "allocation/range_changes.h"
#include "allocation/record_hooks.h"
#include "allocation/records.h"
#include "allocation/service_hooks.h"
#include "base/clock.h"
#include "base/random.h"
#include "commit/sequencer.h"
#include "obs/allocator_metrics.h"
#include "registry/hooks.h"
#include "registry/kind_rows.h"

namespace berth::allocation {

class Allocator {
 public:
  /// All must outlive it; `metrics` may be null.
  struct Parts {
    const registry::Kinds& kinds;
    registry::Gates gates = {};
    Ledger& ledger;
    commit::Sequencer& sequencer;
    const base::Clock& clock;
    obs::AllocatorMetrics* metrics = nullptr;
  };
  Allocator(const Parts& parts, const base::SeededRandom& random);
  Allocator(const Allocator&) = delete;
  Allocator& operator=(const Allocator&) = delete;

  const registry::HookTable& Hooks() const { return hooks_; }
  RangeChanges& Ranges() { return ranges_; }

  /// Returns what strategies need to know at present. The families are those that Services can get
  /// addresses of, the default one first.
  registry::Settings Settings() const;

 private:
  const registry::Gates gates_;
  Ledger& ledger_;
  const RecordRows rows_;
  Addresses addresses_;
  ServiceHooks services_;
  RecordHooks records_;
  RangeChanges ranges_;
  registry::HookTable hooks_;
};

}  // namespace berth::allocation
