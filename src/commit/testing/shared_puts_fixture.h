// For tests only: writes with shared puts, and a record of the transactions that were sent.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commit/testing/sequencer_fixture.h"

namespace berth::commit::testing {

inline const std::string kMap = "/registry/namespaces/map";
inline const std::string kOther = "/registry/namespaces/other";

inline std::string Service(const std::string& name) {
  return state::testing::ServiceKey("n", name);
}

/// Adds a mark to the stored value of the key.
inline SharedPut Marking(const std::string& key, const std::string& mark) {
  return {.key = key,
          .read =
              [](const state::Object& object) {
                return state::testing::Stored(state::testing::Body(object));
              },
          .apply = [mark](std::optional<std::string>& stored) -> base::Result<bool> {
            if (!stored) stored = state::testing::Stored("");
            *stored += mark;
            return true;
          }};
}

/// Returns the transform with these shared puts added to its decision.
inline Transform With(Transform transform, std::vector<SharedPut> shared) {
  return [transform = std::move(transform), shared = std::move(shared)](
             const state::Snapshot& snapshot, const state::ObjectPtr& current) -> Decided {
    auto decision = transform(snapshot, current);
    if (decision) decision->shared = shared;
    return decision;
  };
}

/// Creates the object whose name is the mark, and adds the mark to the map.
inline Transform Marked(const std::string& mark) {
  return With(Create(mark), {Marking(kMap, mark)});
}

class SharedPutsTest : public SequencerTest {
 protected:
  void MakeRecording(const SequencerOptions& options = {},
                     const state::FollowerOptions& follow = {}, store::MemoryOptions engine = {}) {
    engine.fault = [this](const store::Txn& txn) {
      std::string keys;
      for (const store::Put& put : txn.puts) keys += " +" + put.key.substr(put.key.rfind('/') + 1);
      for (const std::string& key : txn.deletes) keys += " -" + key.substr(key.rfind('/') + 1);
      sent_.push_back(keys.substr(1));
      if (faults_.empty()) return store::Fault::kNone;
      const store::Fault fault = faults_.front();
      faults_.erase(faults_.begin());
      return fault;
    };
    store_.Open(std::move(engine));
    replica_ = std::make_unique<Replica>(store_, store_.clock, follow, options);
    PumpAll();
  }
  /// Sends a write with the key, whose reply waits for Release.
  void Occupy(const std::string& name = "0", const std::string& key = kMap) {
    faults_.insert(faults_.begin(), store::Fault::kHold);
    Submit(Service(name), With(Create(name), {Marking(key, name)}));
  }
  void Release() {
    ASSERT_TRUE(store_.engine->Release());
    PumpAll();
  }
  void SubmitMarked(const std::vector<std::string>& marks) {
    for (const std::string& mark : marks) Submit(Service(mark), Marked(mark));
  }
  std::string Map(const std::string& key = kMap) const {
    const auto entry = store::GetNow(*store_.engine, key);
    return *entry ? (*entry)->value : "nothing";
  }

  std::vector<std::string> sent_;  // "+a -b" for each transaction.
};

}  // namespace berth::commit::testing
