// One client of a workload. It makes up operations from what it has learned, runs them, and records
// them.
//
// Threads: belongs to one thread; its replies may come on any.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "linear/linear_history.h"
#include "linear/workload.h"
#include "store/engine.h"

namespace berth::linear {

class Client {
 public:
  /// `engine` and `options` must outlive the client. A late reply goes to the recorder alone.
  Client(size_t number, store::Engine& engine, const WorkloadOptions& options,
         std::shared_ptr<Recorder> recorder);

  /// Runs one operation, from call to reply.
  void Step();

 private:
  using Keys = std::vector<std::string>;

  // These choose what to do.
  store::Txn MakeTxn();
  store::Txn MakeCreate();
  store::Txn MakeUpdate(size_t count);
  store::Txn MakeDelete();
  store::Txn MakeMove();
  store::Txn MakeGuarded();
  store::Txn MakeBlind();
  Keys Pick(size_t count);
  bool Chance(uint64_t one_in) { return base::Uniform(random_, one_in) == 0; }
  void Pause();

  /// Returns what the client believes the key's revision to be. Asks the store if it does not know.
  store::Revision Believed(const std::string& key);
  store::Compare CompareOf(const std::string& key) { return {key, Believed(key)}; }
  store::Put PutOf(const std::string& key);

  // These do it.
  void Get(const std::string& key);
  void Scan(size_t page);
  void Commit(const store::Txn& txn);

  // These learn from replies.
  std::optional<store::Revision>& Belief(const std::string& key);
  void Learn(const std::string& key, const std::optional<store::Entry>& entry);
  void Learn(const store::Txn& txn, const store::TxnReply& reply);

  const size_t number_;
  store::Engine& engine_;
  const WorkloadOptions& options_;
  const std::shared_ptr<Recorder> recorder_;
  base::SeededRandom random_;
  Keys keys_;
  std::vector<std::optional<store::Revision>> believed_;  // Of each key.
  uint64_t values_ = 0;
};

}  // namespace berth::linear
