// Servers for the model test: all of the way of a write but HTTP, on one store in memory. A commit
// reaches the store when the test lets it, and so does the reply come back.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "commit/allocations.h"
#include "commit/sequencer.h"
#include "model/services_world.h"
#include "registry/addresses.h"
#include "registry/registry.h"
#include "state/follower.h"
#include "store/memory_engine.h"

namespace berth::model {

/// An engine that keeps commits and replies until somebody lets them go.
class SlowEngine final : public store::Engine {
 public:
  explicit SlowEngine(store::MemoryEngine& engine) : engine_(engine) {}

  void Get(std::string key, store::Done<std::optional<store::Entry>> done) override {
    engine_.Get(std::move(key), std::move(done));
  }
  void Scan(store::ScanRequest request, store::Done<store::ScanPage> done) override {
    engine_.Scan(std::move(request), std::move(done));
  }
  void Commit(store::Txn txn, std::function<void(store::TxnReply)> done) override {
    commits_.push_back({.txn = std::move(txn), .done = std::move(done)});
  }
  std::unique_ptr<store::Watch> StartWatch(store::WatchRequest request,
                                           std::function<void()> wake) override {
    return engine_.StartWatch(std::move(request), std::move(wake));
  }
  void Current(store::Done<store::Revision> done) override { engine_.Current(std::move(done)); }
  void RequestProgress() override { engine_.RequestProgress(); }
  void Compact(store::Revision upto, store::Done<void> done) override {
    engine_.Compact(upto, std::move(done));
  }
  store::Health GetHealth() const override { return engine_.GetHealth(); }

  const store::Txn& Waiting(size_t place) const { return commits_[place].txn; }
  size_t Commits() const { return commits_.size(); }
  size_t Replies() const { return replies_.size(); }
  void Send(size_t place);
  void Reply(size_t place);
  /// Whoever waited is gone.
  void Clear();

 private:
  using Done = std::function<void(store::TxnReply)>;
  struct Sent {
    store::Txn txn;
    Done done;
  };
  store::MemoryEngine& engine_;
  std::deque<Sent> commits_;
  /// Shared with the engine, which may hold replies back for longer than anybody waits.
  std::shared_ptr<std::map<int, Done>> in_store_ = std::make_shared<std::map<int, Done>>();
  std::deque<std::function<void()>> replies_;
  int next_ = 0;
};

/// The store and what all servers share.
struct SharedStore {
  explicit SharedStore(const Cluster& cluster);

  void Put(const std::string& key, const std::string& value);

  const registry::Kinds kinds;
  const state::Resources resources = kinds.MakeResources();
  base::ManualClock clock;
  base::Logger log{{.sink = [](std::string_view) {}}, clock};
  store::Fault fault = store::Fault::kNone;  // Of the next commit.
  std::unique_ptr<store::MemoryEngine> engine;
};

/// One server. What it is made of goes in the right order when it ends.
class Server {
 public:
  Server(SharedStore& shared, const registry::Gates& gates, bool alone, uint64_t seed);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  SlowEngine& Engine() { return engine_; }
  registry::Registry& Registry() { return *registry_; }
  state::Follower& Follower() { return *follower_; }
  const commit::Sequencer& Sequencer() const { return *sequencer_; }
  const registry::Gates& Gates() const { return gates_; }
  bool HasBand(PoolOf pool) const {
    return pool == PoolOf::kPorts ? gates_.static_ports : gates_.static_ips;
  }

  /// Empty: its indexes say what the records say.
  std::string CheckIndexes(const World& world, const Cluster& cluster) const;

 private:
  const registry::Gates gates_;
  SlowEngine engine_;
  commit::Allocations allocations_;
  registry::Addresses addresses_;
  std::unique_ptr<state::Follower> follower_;
  std::unique_ptr<commit::Sequencer> sequencer_;
  std::unique_ptr<registry::Registry> registry_;
};

}  // namespace berth::model
