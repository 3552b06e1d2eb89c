// Servers for the model test: the whole write path except HTTP, on one store in memory. The test
// decides when a commit reaches the store, and when the reply comes back.
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

#include "allocation/allocator.h"
#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "commit/sequencer.h"
#include "model/services_world.h"
#include "registry/registry.h"
#include "state/follower.h"
#include "store/blocking.h"
#include "store/memory_engine.h"

namespace berth::model {

/// The store of a run that is not in memory.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Returns the engine of a server. All engines show the same state; they may be the same engine.
  virtual store::Engine& At(size_t replica) = 0;
};

/// An engine that holds back commits and replies until the test releases them. It waits for every
/// operation on a real engine, so that nothing happens on other threads.
class SlowEngine final : public store::Engine {
 public:
  SlowEngine(store::Engine& engine, bool real) : engine_(engine), real_(real) {}

  void Get(std::string key, store::Done<std::optional<store::Entry>> done) override {
    real_ ? done(store::GetNow(engine_, std::move(key)))
          : engine_.Get(std::move(key), std::move(done));
  }
  void Scan(store::ScanRequest request, store::Done<store::ScanPage> done) override {
    real_ ? done(store::ScanPageNow(engine_, std::move(request)))
          : engine_.Scan(std::move(request), std::move(done));
  }
  void Commit(store::Txn txn, std::function<void(store::TxnReply)> done) override {
    commits_.push_back({.txn = std::move(txn), .done = std::move(done)});
  }
  std::unique_ptr<store::Watch> Follow(store::Revision after, std::function<void()> wake) override {
    return engine_.Follow(after, std::move(wake));
  }
  base::Result<store::WatchBatch> ReadHistory(const store::HistoryRequest& request) override {
    return engine_.ReadHistory(request);
  }
  void Current(store::Done<store::Revision> done) override {
    real_ ? done(store::CurrentNow(engine_)) : engine_.Current(std::move(done));
  }
  void RequestProgress() override { engine_.RequestProgress(); }
  void Compact(store::Revision upto, store::Done<void> done) override {
    real_ ? done(store::CompactNow(engine_, upto)) : engine_.Compact(upto, std::move(done));
  }
  store::Health GetHealth() const override { return engine_.GetHealth(); }
  size_t MaxTxnItems() const override { return engine_.MaxTxnItems(); }

  const store::Txn& Waiting(size_t place) const { return commits_[place].txn; }
  size_t Commits() const { return commits_.size(); }
  size_t Replies() const { return replies_.size(); }
  /// Sends a commit to the store. Returns the last revision that a real engine reports as written.
  /// Returns 0 if it wrote nothing, or if the engine is not a real one.
  int64_t Send(size_t place);
  void Reply(size_t place);
  /// Drops everything, because no caller waits any more.
  void Clear();

 private:
  using Done = std::function<void(store::TxnReply)>;
  struct Sent {
    store::Txn txn;
    Done done;
  };
  store::Engine& engine_;
  const bool real_;
  std::deque<Sent> commits_;
  /// Shared with the engine, which may hold back replies after all callers have gone.
  std::shared_ptr<std::map<int, Done>> in_store_ = std::make_shared<std::map<int, Done>>();
  std::deque<std::function<void()>> replies_;
  int next_ = 0;
};

/// The store, and everything that all servers share.
struct SharedStore {
  /// `backend` may be null.
  SharedStore(const Ranges& ranges, Backend* backend);

  void Put(const std::string& key, const std::string& value);
  store::Engine& At(size_t replica) { return backend != nullptr ? backend->At(replica) : *memory; }

  const registry::Kinds kinds;
  const state::Resources resources = kinds.MakeResources();
  base::ManualClock clock;
  base::Logger log{{.sink = [](std::string_view) {}}, clock};
  store::Fault fault = store::Fault::kNone;  // For the next commit.
  Backend* const backend;
  int64_t last_put = 0;                         // Its revision.
  std::unique_ptr<store::MemoryEngine> memory;  // Null if there is a backend.
};

/// One server. Its parts are destroyed in the right order.
class Server {
 public:
  struct Options {
    registry::Gates gates = {};
    size_t replica = 0;
    bool alone = true;
    uint64_t seed = 0;
  };
  Server(SharedStore& shared, const Options& options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  SlowEngine& Engine() { return engine_; }
  registry::Registry& Registry() { return *registry_; }
  state::Follower& Follower() { return *follower_; }
  commit::Sequencer& Sequencer() { return *sequencer_; }
  allocation::RangeChanges& Ranges() { return allocator_->Ranges(); }
  allocation::Ledger& Ledger() { return ledger_; }
  const registry::Gates& Gates() const { return gates_; }

  /// Returns "" if its indexes agree with the store, or a description of the difference.
  std::string CheckIndexes(const World& world) const;

 private:
  std::string CheckRange(const allocation::RangeState& state, const World& world) const;

  const registry::Gates gates_;
  SlowEngine engine_;
  allocation::Ledger ledger_;
  std::unique_ptr<state::Follower> follower_;
  std::unique_ptr<commit::Sequencer> sequencer_;
  std::unique_ptr<allocation::Allocator> allocator_;
  std::unique_ptr<registry::Registry> registry_;
};

}  // namespace berth::model
