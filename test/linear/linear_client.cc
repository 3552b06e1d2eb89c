#include "linear/linear_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

#include "base/mutex.h"

namespace berth::linear {
namespace {

/// Waits for a reply, but not for ever.
template <typename T>
class Slot {
 public:
  void Set(T value) EXCLUDES(mutex_) {
    const base::MutexLock lock(mutex_);
    value_.emplace(std::move(value));
    set_.NotifyOne();
  }

  std::optional<T> Wait(std::chrono::milliseconds patience) EXCLUDES(mutex_) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    base::MutexLock lock(mutex_);
    while (!value_) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= std::chrono::nanoseconds{0}) return std::nullopt;
      set_.WaitFor(mutex_, left);
    }
    return std::exchange(value_, std::nullopt);
  }

 private:
  base::Mutex mutex_;
  base::CondVar set_;
  std::optional<T> value_ GUARDED_BY(mutex_);
};

/// Converts a stored value back to the text that it was made from.
using Decode = std::function<std::string(std::string_view)>;

void DecodeEntry(const Decode& decode, std::optional<store::Entry>& entry) {
  if (decode && entry) entry->value = decode(entry->value);
}

Reply Decoded(const Decode& decode, store::TxnReply reply) {
  for (auto& conflict : reply.conflicts) DecodeEntry(decode, conflict.current);
  return reply;
}

Reply Decoded(const Decode& decode, base::Result<std::optional<store::Entry>> reply) {
  if (!reply) return ReadFailed{std::move(reply.error())};
  DecodeEntry(decode, *reply);
  return std::move(*reply);
}

}  // namespace

Client::Client(size_t number, store::Engine& engine, const WorkloadOptions& options,
               std::shared_ptr<Recorder> recorder)
    : number_(number),
      engine_(engine),
      options_(options),
      recorder_(std::move(recorder)),
      random_(options.seed * 1000 + number),
      believed_(options.keys) {
  for (size_t i = 0; i < options.keys; ++i)
    keys_.push_back(fmt::format("{}k{}", options.prefix, i));
}

void Client::Step() {
  const uint64_t dice = base::Uniform(random_, 100);
  if (dice < 10) {
    Get(Pick(1).front());
  } else if (dice < 18) {
    Scan(1000);
  } else if (dice < 22) {
    Scan(1 + base::Uniform(random_, 3));
  } else {
    Commit(MakeTxn());
  }
  Pause();
}

store::Txn Client::MakeTxn() {
  const uint64_t dice = base::Uniform(random_, 100);
  if (dice < 16) return MakeCreate();
  if (dice < 40) return MakeUpdate(1);
  if (dice < 56) return MakeUpdate(2 + base::Uniform(random_, 2));
  if (dice < 70) return MakeDelete();
  if (dice < 80) return MakeMove();
  if (dice < 90) return MakeGuarded();
  return MakeBlind();
}

store::Txn Client::MakeCreate() {
  store::Txn txn;
  for (const auto& key : Pick(Chance(4) ? 2 : 1)) {
    txn.compares.push_back({key, store::Revision{}});
    txn.puts.push_back(PutOf(key));
  }
  return txn;
}

store::Txn Client::MakeUpdate(size_t count) {
  store::Txn txn;
  for (const auto& key : Pick(count)) {
    txn.compares.push_back(CompareOf(key));
    txn.puts.push_back(PutOf(key));
  }
  return txn;
}

store::Txn Client::MakeDelete() {
  store::Txn txn{.deletes = Pick(Chance(3) ? 2 : 1)};
  if (Chance(4)) return txn;  // A blind write.
  for (const auto& key : txn.deletes) txn.compares.push_back(CompareOf(key));
  return txn;
}

store::Txn Client::MakeMove() {
  const Keys keys = Pick(2);
  return {.compares = {CompareOf(keys[0])}, .puts = {PutOf(keys[1])}, .deletes = {keys[0]}};
}

/// Makes a write that depends on a key it does not write. Now and then it writes nothing at all.
store::Txn Client::MakeGuarded() {
  const Keys keys = Pick(2);
  store::Txn txn{.compares = {CompareOf(keys[0])}};
  if (!Chance(5)) txn.puts.push_back(PutOf(keys[1]));
  return txn;
}

store::Txn Client::MakeBlind() {
  store::Txn txn;
  for (const auto& key : Pick(1 + base::Uniform(random_, 3))) txn.puts.push_back(PutOf(key));
  return txn;
}

Client::Keys Client::Pick(size_t count) {
  Keys rest = keys_;
  Keys picked;
  while (picked.size() < count && !rest.empty()) {
    const auto at = rest.begin() + static_cast<std::ptrdiff_t>(base::Uniform(random_, rest.size()));
    picked.push_back(std::move(*at));
    rest.erase(at);
  }
  return picked;
}

void Client::Pause() {
  const auto most = static_cast<uint64_t>(options_.jitter.count());
  if (most == 0 || Chance(2)) return;
  std::this_thread::sleep_for(std::chrono::microseconds(base::Uniform(random_, most)));
}

std::optional<store::Revision>& Client::Belief(const std::string& key) {
  return believed_[static_cast<size_t>(std::ranges::find(keys_, key) - keys_.begin())];
}

store::Revision Client::Believed(const std::string& key) {
  if (!Belief(key)) Get(key);
  return Belief(key).value_or(store::Revision{});
}

store::Put Client::PutOf(const std::string& key) {
  return {.key = key, .value = fmt::format("{}.{}", number_, values_++)};
}

void Client::Get(const std::string& key) {
  using Result = base::Result<std::optional<store::Entry>>;
  const auto slot = std::make_shared<Slot<Reply>>();
  const size_t operation = recorder_->Call(number_, GetRequest{key});
  Pause();
  engine_.Get(key, [slot, operation, recorder = recorder_, decode = options_.decode](Result got) {
    Reply reply = Decoded(decode, std::move(got));
    recorder->Return(operation, reply);
    slot->Set(std::move(reply));
  });
  const std::optional<Reply> reply = slot->Wait(options_.patience);
  if (!reply) return;
  if (const auto* entry = std::get_if<std::optional<store::Entry>>(&*reply)) Learn(key, *entry);
}

/// Scans in pages. They are one operation: all show the state of the first.
void Client::Scan(size_t page) {
  using Result = base::Result<store::ScanPage>;
  const size_t operation = recorder_->Call(number_, SnapshotRequest{options_.prefix});
  Pause();
  store::ScanRequest request{.prefix = options_.prefix, .limit = page};
  store::ScanPage all;
  for (bool more = true; more;) {
    const auto slot = std::make_shared<Slot<Result>>();
    engine_.Scan(request, [slot](Result got) { slot->Set(std::move(got)); });
    std::optional<Result> got = slot->Wait(options_.patience);
    if (!got) return;
    if (!*got) {
      recorder_->Return(operation, ReadFailed{std::move(got->error())});
      return;
    }
    for (auto& entry : (*got)->entries) {
      if (options_.decode) entry.value = options_.decode(entry.value);
      all.entries.push_back(std::move(entry));
    }
    all.at = request.at = (*got)->at;
    more = (*got)->more;
    if (!all.entries.empty()) request.after = all.entries.back().key;
    if (more) Pause();
  }
  recorder_->Return(operation, all);
  for (const auto& key : keys_) {
    const auto found = std::ranges::find(all.entries, key, &store::Entry::key);
    Learn(key, found == all.entries.end() ? std::nullopt : std::optional(*found));
  }
}

void Client::Commit(const store::Txn& txn) {
  const auto slot = std::make_shared<Slot<Reply>>();
  const size_t operation = recorder_->Call(number_, txn);
  store::Txn encoded = txn;
  for (auto& put : encoded.puts) {
    if (options_.encode) put.value = options_.encode(put.value);
  }
  Pause();
  engine_.Commit(std::move(encoded), [slot, operation, recorder = recorder_,
                                      decode = options_.decode](store::TxnReply got) {
    Reply reply = Decoded(decode, std::move(got));
    recorder->Return(operation, reply);
    slot->Set(std::move(reply));
  });
  const std::optional<Reply> reply = slot->Wait(options_.patience);
  Learn(txn, reply ? std::get<store::TxnReply>(*reply) : store::TxnReply{});
}

void Client::Learn(const std::string& key, const std::optional<store::Entry>& entry) {
  Belief(key) = entry ? entry->revision : store::Revision{};
}

void Client::Learn(const store::Txn& txn, const store::TxnReply& reply) {
  switch (reply.outcome) {
    case store::Outcome::kCommitted:
      for (size_t i = 0; i < std::min(txn.puts.size(), reply.puts.size()); ++i) {
        Belief(txn.puts[i].key) = reply.puts[i];
      }
      for (const auto& key : txn.deletes) Belief(key) = store::Revision{};
      break;
    case store::Outcome::kConflict:
      for (const auto& conflict : reply.conflicts) {
        if (conflict.compare >= txn.compares.size()) continue;
        Learn(txn.compares[conflict.compare].key, conflict.current);
      }
      break;
    case store::Outcome::kRefused:
      break;
    case store::Outcome::kUnknown:
      for (const auto& put : txn.puts) Belief(put.key).reset();
      for (const auto& key : txn.deletes) Belief(key).reset();
      break;
  }
}

}  // namespace berth::linear
