#include "chaos/replica.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "store/testing/contract_fixture.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;
using store::contract::Payload;

base::Error Closed() {
  return {.reason = base::Reason::kServiceUnavailable, .message = "the replica is closed"};
}

}  // namespace

void Journal::Start() {
  const base::MutexLock lock(mutex_);
  replies_.clear();
  last_commit_ = Clock::now();
  longest_gap_ = {};
}

void Journal::Called() {
  const base::MutexLock lock(mutex_);
  ++open_;
}

void Journal::Returned(const store::Txn& txn, const store::TxnReply& reply) {
  const base::MutexLock lock(mutex_);
  if (--open_ == 0) quiet_.NotifyAll();
  if (!txn.puts.empty()) replies_[{txn.puts[0].key, Payload(txn.puts[0].value)}] = reply;
  if (reply.outcome != store::Outcome::kCommitted) return;
  const auto now = Clock::now();
  longest_gap_ = std::max(longest_gap_, now - last_commit_);
  last_commit_ = now;
}

bool Journal::AwaitQuiet(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  base::MutexLock lock(mutex_);
  while (open_ > 0 && Clock::now() < deadline) quiet_.WaitFor(mutex_, deadline - Clock::now());
  return open_ == 0;
}

std::optional<store::TxnReply> Journal::ReplyOf(const store::Put& first) const {
  const base::MutexLock lock(mutex_);
  const auto found = replies_.find({first.key, first.value});
  return found == replies_.end() ? std::nullopt : std::optional(found->second);
}

std::chrono::milliseconds Journal::LongestGap() const {
  const base::MutexLock lock(mutex_);
  return std::chrono::duration_cast<std::chrono::milliseconds>(longest_gap_);
}

/// A watch that the replica can end before its owner does.
struct Replica::OpenWatch {
  base::Mutex mutex;
  std::unique_ptr<store::Watch> watch GUARDED_BY(mutex);
  std::function<void()> wake GUARDED_BY(mutex);

  /// Ends the watch and wakes the owner, so that it notices.
  void End() EXCLUDES(mutex) {
    const base::MutexLock lock(mutex);
    watch.reset();
    if (wake) wake();
  }
};

class Replica::ReplicaWatch final : public store::Watch {
 public:
  explicit ReplicaWatch(std::shared_ptr<OpenWatch> open) : open_(std::move(open)) {}
  ~ReplicaWatch() override {
    const base::MutexLock lock(open_->mutex);
    open_->watch.reset();
    open_->wake = nullptr;
  }

  base::Result<store::WatchBatch> Poll(size_t max) override {
    const base::MutexLock lock(open_->mutex);
    if (open_->watch == nullptr) return tl::unexpected(Closed());
    return open_->watch->Poll(max);
  }

 private:
  const std::shared_ptr<OpenWatch> open_;
};

Replica::Replica(store::etcd::ClientOptions client, store::etcd::EtcdOptions options,
                 Journal& journal, base::Logger& log, const base::Clock& clock)
    : client_(std::move(client)),
      options_(std::move(options)),
      journal_(journal),
      log_(log),
      clock_(clock) {}

Replica::~Replica() { Close(); }

base::Result<void> Replica::Open() {
  auto opened = store::etcd::EtcdEngine::Open(client_, options_, store::contract::TestSlotCodec(),
                                              log_, clock_);
  if (!opened) return tl::unexpected(opened.error());
  const base::MutexLock lock(mutex_);
  engine_ = std::move(*opened);
  return {};
}

void Replica::Close() {
  EnginePtr engine;
  std::vector<std::weak_ptr<OpenWatch>> watches;
  {
    const base::MutexLock lock(mutex_);
    engine = std::move(engine_);
    watches = std::exchange(watches_, {});
  }
  for (const auto& open : watches) {
    if (const auto watch = open.lock()) watch->End();
  }
  const std::weak_ptr<store::etcd::EtcdEngine> gone = engine;
  engine.reset();
  // Waits for calls that have not returned.
  while (!gone.expired()) std::this_thread::sleep_for(1ms);
}

Replica::EnginePtr Replica::Now() const {
  const base::MutexLock lock(mutex_);
  return engine_;
}

void Replica::Get(std::string key, store::Done<std::optional<store::Entry>> done) {
  if (const auto engine = Now()) return engine->Get(std::move(key), std::move(done));
  done(tl::unexpected(Closed()));
}

void Replica::Scan(store::ScanRequest request, store::Done<store::ScanPage> done) {
  if (const auto engine = Now()) return engine->Scan(std::move(request), std::move(done));
  done(tl::unexpected(Closed()));
}

void Replica::Commit(store::Txn txn, std::function<void(store::TxnReply)> done) {
  const auto engine = Now();
  if (engine == nullptr) {
    store::TxnReply reply{.outcome = store::Outcome::kRefused};
    reply.error = Closed();
    return done(std::move(reply));
  }
  journal_.Called();
  engine->Commit(txn, [this, txn, done = std::move(done)](const store::TxnReply& reply) {
    done(reply);
    journal_.Returned(txn, reply);
  });
}

base::Result<store::WatchBatch> Replica::ReadHistory(const store::HistoryRequest& request) {
  if (const auto engine = Now()) return engine->ReadHistory(request);
  return tl::unexpected(Closed());
}

std::unique_ptr<store::Watch> Replica::Follow(store::Revision after, std::function<void()> wake) {
  const auto open = std::make_shared<OpenWatch>();
  // This is one step under the lock: Close finds the watch, or the watch finds the replica closed.
  const base::MutexLock lock(mutex_);
  if (engine_ != nullptr) {
    const base::MutexLock open_lock(open->mutex);
    open->watch = engine_->Follow(after, wake);
    open->wake = std::move(wake);
    std::erase_if(watches_, [](const auto& other) { return other.expired(); });
    watches_.push_back(open);
  }
  return std::make_unique<ReplicaWatch>(open);
}

void Replica::Current(store::Done<store::Revision> done) {
  if (const auto engine = Now()) return engine->Current(std::move(done));
  done(tl::unexpected(Closed()));
}

void Replica::RequestProgress() {
  if (const auto engine = Now()) engine->RequestProgress();
}

void Replica::Compact(store::Revision upto, store::Done<void> done) {
  if (const auto engine = Now()) return engine->Compact(upto, std::move(done));
  done(tl::unexpected(Closed()));
}

store::Health Replica::GetHealth() const {
  if (const auto engine = Now()) return engine->GetHealth();
  return {.writable = false, .why = Closed().message};
}

}  // namespace berth::chaos
