#include "store/etcd/leases.h"

#include <algorithm>
#include <utility>

#include "store/etcd/explain.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

using std::chrono::seconds;

constexpr seconds kMinSlack{1};
constexpr seconds kMaxSlack{60};
constexpr int kSlackPart = 20;  // 5 %.
constexpr seconds kMaxLate{30};

/// Margin for the time between reading the clock and the put in etcd.
constexpr std::chrono::milliseconds kMargin{250};

/// Every ttl in use has its own lease. If callers use more ttls than this, some get new leases
/// earlier.
constexpr size_t kMaxShared = 256;

}  // namespace

seconds Leases::Slack(seconds ttl) { return std::clamp(ttl / kSlackPart, kMinSlack, kMaxSlack); }

seconds Leases::Left(int64_t granted, int64_t remaining) {
  // The lease was granted for ttl + ttl / 20, so the slack is a 21st of it.
  const seconds slack = std::clamp(seconds(granted) / (kSlackPart + 1), kMinSlack, kMaxSlack);
  // etcd rounds down, and reports -1 once the end is reached.
  return std::max(seconds(remaining) + seconds(1) - slack, seconds(1));
}

bool Leases::IsFresh(seconds ttl, const Lease& lease) const {
  return context_.clock.Steady() + ttl + kMargin <= lease.end;
}

void Leases::Forget(seconds ttl) {
  base::MutexLock lock(mutex_);
  const auto found = shared_.find(ttl);
  if (found != shared_.end()) found->second.lease = {};
}

void Leases::Get(seconds ttl, size_t keys, Given given) {
  base::MutexLock lock(mutex_);
  Shared& shared = shared_[ttl];
  if (!shared.granting && shared.lease.id != 0 && shared.keys + keys <= kMaxKeys &&
      IsFresh(ttl, shared.lease)) {
    shared.keys += keys;
    const Lease lease = shared.lease;
    lock.Unlock();
    given(lease);
    return;
  }
  shared.waiting.push_back({.keys = keys, .given = std::move(given)});
  if (std::exchange(shared.granting, true)) return;
  lock.Unlock();
  Grant(ttl);
}

void Leases::Grant(seconds ttl) {
  pb::LeaseGrantRequest request;
  seconds granted = ttl + Slack(ttl);
  {
    base::MutexLock lock(mutex_);
    granted += late_;
  }
  request.set_ttl(granted.count());
  const base::SteadyTime asked = context_.clock.Steady();
  context_.client.LeaseGrant(request, [this, ttl, asked, granted](auto reply) {
    Granted(ttl, asked, granted, std::move(reply));
  });
}

void Leases::Granted(seconds ttl, base::SteadyTime asked, seconds granted,
                     CallResult<pb::LeaseGrantResponse> reply) {
  if (context_.stop) {
    CallError closing;
    closing.error = ClosingError();
    reply = tl::unexpected(std::move(closing));
  }
  std::vector<Waiting> served;
  bool again = false;
  Lease lease;
  {
    base::MutexLock lock(mutex_);
    const auto took = context_.clock.Steady() - asked;
    late_ = std::min(std::chrono::floor<seconds>(took + kMargin), kMaxLate);
    Shared& shared = shared_[ttl];
    if (reply) {
      lease = {.id = reply->id(), .end = asked + granted};
      shared.lease = lease;
      shared.keys = 0;
    }
    // A transaction has at most as many puts with a ttl as one lease allows (kMaxKeys), but many
    // transactions may wait.
    auto next = shared.waiting.begin();
    while (next != shared.waiting.end() &&
           (!reply || shared.keys == 0 || shared.keys + next->keys <= kMaxKeys)) {
      shared.keys += next->keys;
      served.push_back(std::move(*next++));
    }
    shared.waiting.erase(shared.waiting.begin(), next);
    again = !shared.waiting.empty();
    shared.granting = again;
    DropOld();
  }
  for (Waiting& waiting : served) {
    if (reply) {
      waiting.given(lease);
    } else {
      waiting.given(tl::unexpected(reply.error()));
    }
  }
  if (again) Grant(ttl);
}

void Leases::DropOld() {
  for (auto it = shared_.begin(); it != shared_.end() && shared_.size() > kMaxShared;) {
    it = it->second.granting ? std::next(it) : shared_.erase(it);
  }
}

}  // namespace berth::store::etcd
