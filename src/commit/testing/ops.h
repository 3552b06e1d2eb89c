// For tests only: the parts of a sequencer one by one, on a store in memory, and writes without a
// sequencer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/timers.h"
#include "commit/op.h"
#include "commit/sequencer.h"
#include "commit/testing/sequencer_fixture.h"
#include "state/follower.h"
#include "state/testing/test_store.h"

namespace berth::commit::testing {

/// Timers that fire when the test says so.
class ManualTimers final : public base::Timers {
 public:
  void RunAt(base::SteadyTime at, std::function<void()> call) override {
    calls_.emplace(at, std::move(call));
  }
  size_t Size() const { return calls_.size(); }
  /// Fires everything that is due.
  void FireUntil(base::SteadyTime now) {
    while (!calls_.empty() && calls_.begin()->first <= now) {
      calls_.extract(calls_.begin()).mapped()();
    }
  }

 private:
  std::multimap<base::SteadyTime, std::function<void()>> calls_;
};

/// A store and a follower, which follows when the test lets it, and the parts made of them.
struct TestParts {
  explicit TestParts(const state::FollowerOptions& follow = {}) {
    store.Open();
    follower = std::make_unique<state::Follower>(*store.engine, store.resources,
                                                 std::vector<state::Listener*>{}, follow,
                                                 store.clock, store.log);
    PumpAll();
  }
  void PumpAll() const {
    while (follower->Pump()) {
    }
  }
  SequencerParts Get() { return {*store.engine, *follower, store.resources, store.clock, timers}; }

  state::testing::TestStore store;
  ManualTimers timers;
  std::unique_ptr<state::Follower> follower;
};

inline OpPtr MakeOp(const std::string& key, base::SteadyTime deadline = base::SteadyTime::max()) {
  auto op = std::make_shared<Op>();
  op->write.key = key;
  op->write.deadline = deadline;
  return op;
}

/// Returns a write that is answered into `answer`.
inline OpPtr MakeOp(const std::string& key, std::string& answer,
                    base::SteadyTime deadline = base::SteadyTime::max()) {
  OpPtr op = MakeOp(key, deadline);
  op->done = [&answer](const base::Result<Written>& result) { answer = Text(result); };
  return op;
}

/// Returns the keys of the writes, such as "a b".
inline std::string KeysOf(const Ops& ops) {
  std::string keys;
  for (const OpPtr& op : ops) keys += (keys.empty() ? "" : " ") + op->write.key;
  return keys;
}

}  // namespace berth::commit::testing
