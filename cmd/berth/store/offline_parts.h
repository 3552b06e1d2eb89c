// The few parts of a server that a command needs to change a store that is open in this process. If
// the store is etcd, servers may use it meanwhile.
#pragma once

#include <memory>
#include <utility>

#include "allocation/allocator.h"
#include "allocation/ledger/ledger.h"
#include "allocation/records.h"
#include "base/random.h"
#include "berth/store/open.h"
#include "codec/slot.h"
#include "commit/sequencer.h"
#include "registry/registry.h"
#include "state/follower.h"
#include "store/engine.h"

namespace berth::cli {

/// The parts, in the order of their dependencies.
struct OfflineParts {
  OfflineParts(std::unique_ptr<store::Engine> the_engine, bool shared, Tools& tools)
      : engine(std::move(the_engine)),
        resources(kinds.MakeResources()),
        ledger(allocation::MakeRecordReader(allocation::RecordRowsOf(kinds), {}),
               base::SeededRandom::FromKernel()),
        follower(*engine, resources, {&ledger},
                 {.shared_store = shared, .same = codec::SameApartFromSlot}, tools.clock(),
                 tools.log()),
        sequencer({*engine, follower, resources, tools.clock(), follower}, {}),
        allocator(
            {.kinds = kinds, .ledger = ledger, .sequencer = sequencer, .clock = tools.clock()},
            base::SeededRandom::FromKernel()),
        registry(
            kinds, resources, sequencer, allocator.Hooks(), [this] { return allocator.Settings(); },
            tools.clock(), base::SeededRandom::FromKernel()) {
    follower.Start();
  }
  ~OfflineParts() {
    sequencer.Close();
    follower.Stop();
  }
  OfflineParts(const OfflineParts&) = delete;
  OfflineParts& operator=(const OfflineParts&) = delete;

  const std::unique_ptr<store::Engine> engine;
  const registry::Kinds kinds;
  const state::Resources resources;
  allocation::Ledger ledger;
  state::Follower follower;
  commit::Sequencer sequencer;
  allocation::Allocator allocator;
  registry::Registry registry;
};

}  // namespace berth::cli
