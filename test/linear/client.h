// One client of a workload: makes up operations from what it has learned, runs them, records them.
//
// Threads: belongs to one thread; its replies may come on any.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "linear/history.h"
#include "linear/workload.h"
#include "store/engine.h"

namespace berth::linear {

class Client {
 public:
  /// `engine` and `options` must outlive it; a reply may come later and goes to the recorder alone.
  Client(size_t number, store::Engine& engine, const WorkloadOptions& options,
         std::shared_ptr<Recorder> recorder);

  /// One operation, from call to reply.
  void Step();

 private:
  using Keys = std::vector<std::string>;

  // What to do.
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

  /// What it believes the key's revision to be; asks the store if it has no idea.
  store::Revision Believed(const std::string& key);
  store::Compare CompareOf(const std::string& key) { return {key, Believed(key)}; }
  store::Put PutOf(const std::string& key);

  // Doing it.
  void Get(const std::string& key);
  void Scan(size_t page);
  void Commit(const store::Txn& txn);

  // Learning from replies.
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
