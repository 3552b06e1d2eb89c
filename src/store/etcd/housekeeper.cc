#include "store/etcd/housekeeper.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "store/etcd/await.h"
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

  // <prefix><id> is a fence, <prefix><id>/<lane> a receipt.
  std::set<std::string> fences;
  std::set<std::string> with_receipts;
  for (const pb::KeyValue& kv : (*reply)->kvs()) {
    const size_t slash = kv.key().find('/', prefix.size());
    if (slash == std::string::npos) {
      fences.insert(kv.key());
    } else {
      with_receipts.insert(kv.key().substr(0, slash));
    }
  }
  std::erase_if(orphans_, [&](const auto& orphan) {
    return fences.contains(orphan.first) || !with_receipts.contains(orphan.first);
  });
  const base::SteadyTime now = context_.clock.Steady();
  for (const std::string& fence : with_receipts) {
    if (fence == own_ || fences.contains(fence)) continue;
    const auto since = orphans_.try_emplace(fence, now).first->second;
    if (now - since >= kPatience) Remove(fence);
  }
}

void Tidier::Remove(const std::string& fence) {
  pb::TxnRequest request;
  pb::Compare& compare = *request.add_compare();
  compare.set_target(pb::Compare::MOD);
  compare.set_key(fence);
  compare.set_mod_revision(0);
  pb::DeleteRangeRequest& remove = *request.add_success()->mutable_request_delete_range();
  remove.set_key(fence + "/");
  remove.set_range_end(PrefixEnd(fence + "/"));
  AwaitTxn(context_.client, context_.stop, std::move(request));
}

Housekeeper::Housekeeper(const Context& context, Fence& fence, Ticker& ticker,
                         std::chrono::seconds compact_interval,
                         std::function<void(Revision)> compacted)
    : context_(context),
      fence_(fence),
      ticker_(ticker),
      compact_interval_(compact_interval),
      compactor_(context, std::move(compacted)),
      tidier_(context, fence.Key()) {
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
    fence_.KeepAlive();
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

/// A linearizable read: it needs a leader and a majority, as a write does.
void Housekeeper::Probe() {
  pb::RangeRequest request;
  request.set_key(context_.layout.keys.ToEtcd(kMarkerKey));
  request.set_count_only(true);
  const int64_t seen = context_.status.Seen();
  const auto reply = AwaitRange(context_.client, context_.stop, std::move(request));
  if (!reply) return;
  if (!*reply) {
    context_.status.Trouble(Status::Area::kReach, reply->error().error.message);
    return;
  }
  context_.status.Fine(Status::Area::kReach);
  context_.status.Check((*reply)->header(), seen);
}

}  // namespace berth::store::etcd
