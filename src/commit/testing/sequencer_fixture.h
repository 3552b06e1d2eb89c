// For tests only: short forms of writes, and a sequencer on a store in memory. Nothing happens
// until the test lets the follower run.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commit/sequencer.h"
#include "state/follower.h"
#include "state/testing/test_store.h"

namespace berth::commit::testing {

inline const std::string& Key() {
  static const std::string key = state::testing::ServiceKey("n", "a");
  return key;
}

inline Decision PutOf(const std::string& body) {
  return {.kind = Decision::Kind::kPut,
          .stored = state::testing::Stored(body),
          .wire = state::testing::Wire(body)};
}

inline Transform Create(const std::string& body) {
  return [body](const state::Snapshot&, const state::ObjectPtr& current) -> base::Result<Decision> {
    if (current) return base::Fail(base::Reason::kAlreadyExists, "exists");
    return PutOf(body);
  };
}

inline Transform Append(const std::string& more) {
  return [more](const state::Snapshot&, const state::ObjectPtr& current) -> base::Result<Decision> {
    return PutOf((current ? state::testing::Body(*current) : "") + more);
  };
}

inline Transform Remove() {
  return [](const state::Snapshot&, const state::ObjectPtr& current) -> base::Result<Decision> {
    if (!current) return base::Fail(base::Reason::kNotFound, "not found");
    return Decision{.kind = Decision::Kind::kDelete};
  };
}

inline Guard NamespaceExists() {
  return {.key = "/registry/namespaces/n",
          .check = [](const state::ObjectPtr& current) -> std::optional<base::Error> {
            if (current) return std::nullopt;
            return base::Error{.reason = base::Reason::kNotFound, .message = "no namespace"};
          }};
}

/// Returns the outcome of a write as text, such as "created body @7".
inline std::string Text(const base::Result<Written>& result) {
  if (!result) return std::string(ReasonText(result.error().reason));
  static const char* const kinds[] = {"created", "updated", "deleted", "unchanged"};
  return std::string(kinds[static_cast<size_t>(result->kind)]) + " " +
         (result->object ? state::testing::Body(*result->object) : "nothing") + " @" +
         std::to_string(result->revision);
}

/// One server: a follower and a sequencer on the store.
struct Replica {
  Replica(state::testing::TestStore& store, const base::Clock& clock,
          const state::FollowerOptions& follow, const SequencerOptions& options)
      : follower(*store.engine, store.resources, {}, follow, clock, store.log),
        sequencer(std::make_unique<Sequencer>(
            SequencerParts{*store.engine, follower, store.resources, clock, follower}, options)) {}

  state::Follower follower;
  std::unique_ptr<Sequencer> sequencer;
};

class SequencerTest : public ::testing::Test {
 protected:
  void Make(const SequencerOptions& options = {}, const state::FollowerOptions& follow = {},
            store::MemoryOptions engine = {}) {
    engine.fault = [this](const store::Txn& /*txn*/) {
      if (faults_.empty()) return store::Fault::kNone;
      const store::Fault fault = faults_.front();
      faults_.erase(faults_.begin());
      return fault;
    };
    store_.Open(std::move(engine));
    replica_ = std::make_unique<Replica>(store_, store_.clock, follow, options);
    PumpAll();
  }
  void PumpAll() {
    while (replica_->follower.Pump()) {
    }
  }
  void Submit(Write write) {
    const size_t index = results_.size();
    results_.emplace_back("-");
    replica_->sequencer->Submit(
        std::move(write),
        [this, index](const base::Result<Written>& result) { results_[index] = Text(result); });
  }
  void Submit(const std::string& key, Transform transform) {
    Submit({.key = key, .transform = std::move(transform)});
  }
  std::string Run(const std::string& key, Transform transform) {
    Submit(key, std::move(transform));
    PumpAll();
    return results_.back();
  }
  std::string Stored() const {
    const auto entry = store::GetNow(*store_.engine, Key());
    return *entry ? (*entry)->value : "nothing";
  }

  state::testing::TestStore store_;
  std::vector<store::Fault> faults_;
  std::vector<std::string> results_;
  std::unique_ptr<Replica> replica_;
};

}  // namespace berth::commit::testing
