#include "store/etcd/etcd_housekeeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "store/etcd/await.h"
#include "store/etcd/explain.h"
#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

constexpr std::chrono::seconds kRound{5};
constexpr std::chrono::minutes kTidyInterval{5};
constexpr int64_t kTidyKeys = 10'000;

}  // namespace

void Tidier::Round() {
  const std::string prefix = context_.layout.keys.ToEtcd(kProcessFencePrefix);
  pb::RangeRequest request;
  request.set_key(prefix);
  request.set_range_end(PrefixEnd(prefix));
  request.set_keys_only(true);
  request.set_limit(kTidyKeys);
  const auto reply = AwaitRange(context_.client, context_.stop, std::move(request));
  if (!reply || !*reply) return;

  // <prefix><id> is an epoch key, <prefix><id>/<lane> is a receipt.
  std::set<std::string> epoch_keys;
  std::set<std::string> with_receipts;
  for (const pb::KeyValue& kv : (*reply)->kvs()) {
    const size_t slash = kv.key().find('/', prefix.size());
    if (slash == std::string::npos) {
      epoch_keys.insert(kv.key());
    } else {
      with_receipts.insert(kv.key().substr(0, slash));
    }
  }
  std::erase_if(orphans_, [&](const auto& orphan) {
    return epoch_keys.contains(orphan.first) || !with_receipts.contains(orphan.first);
  });
  const base::SteadyTime now = context_.clock.Steady();
  for (const std::string& key : with_receipts) {
    if (key == own_ || epoch_keys.contains(key)) continue;
    const auto since = orphans_.try_emplace(key, now).first->second;
    if (now - since >= kPatience) Remove(key);
  }
}

void Tidier::Remove(const std::string& epoch_key) {
  pb::TxnRequest request;
  pb::Compare& compare = *request.add_compare();
  compare.set_target(pb::Compare::MOD);
  compare.set_key(epoch_key);
  compare.set_mod_revision(0);
  pb::DeleteRangeRequest& remove = *request.add_success()->mutable_request_delete_range();
  remove.set_key(epoch_key + "/");
  remove.set_range_end(PrefixEnd(epoch_key + "/"));
  AwaitTxn(context_.client, context_.stop, std::move(request));
}

Housekeeper::Housekeeper(const Context& context, Epoch& epoch, Ticker& ticker,
                         std::chrono::seconds compact_interval,
                         std::function<void(Revision)> compacted, std::function<void()> keep_note)
    : context_(context),
      epoch_(epoch),
      ticker_(ticker),
      compact_interval_(compact_interval),
      compactor_(context, std::move(compacted)),
      tidier_(context, epoch.Key()),
      keep_note_(std::move(keep_note)) {
  thread_ = std::thread([this] { Run(); });
}

Housekeeper::~Housekeeper() { End(); }

void Housekeeper::End() {
  {
    base::MutexLock lock(mutex_);
    wake_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void Housekeeper::Run() {
  base::SteadyTime next_compaction = context_.clock.Steady();
  base::SteadyTime next_tidy = next_compaction;
  const auto pause = compact_interval_.count() > 0 ? std::min(kRound, compact_interval_) : kRound;
  while (!context_.stop) {
    Probe();
    keep_note_();
    epoch_.KeepAlive();
    if (context_.status.InTrouble(Status::Area::kWrites)) ticker_.Request();
    const base::SteadyTime now = context_.clock.Steady();
    if (compact_interval_.count() > 0 && now >= next_compaction) {
      next_compaction = now + compact_interval_;
      compactor_.Round();
    }
    if (now >= next_tidy) {
      next_tidy = now + kTidyInterval;
      tidier_.Round();
    }
    base::MutexLock lock(mutex_);
    if (!context_.stop) wake_.WaitFor(mutex_, pause);
  }
}

/// Does a linearizable read, which needs a leader and a majority, as a write does. It reads the
/// witness, so that another time line is noticed even if nothing happens.
void Housekeeper::Probe() {
  const int64_t seen = context_.status.Seen();
  const Witness witness = context_.time_line.Newest();
  const auto reply = AwaitRange(context_.client, context_.stop, WitnessRequest(witness));
  if (!reply) return;
  Accept(context_, witness, *reply, seen);
  if (*reply || IsCompacted(reply->error())) {
    context_.status.Fine(Status::Area::kReach);
    if (!*reply) ticker_.Request();  // Makes a new witness.
  } else if (context_.client.IsReplaced()) {
    context_.status.Stop(
        fmt::format("another etcd has taken the place of the one that this process was started "
                    "with, and the store must be opened again: {}",
                    reply->error().error.message),
        /*reads=*/true);
  } else {
    context_.status.Trouble(Status::Area::kReach, reply->error().error.message);
  }
}

}  // namespace berth::store::etcd
