// Leases for keys that expire. etcd is slow with very many leases, so keys that are put within a
// short time with the same ttl share one. A lease is granted for the ttl plus some slack, and is
// used for further keys while at least the ttl is left. So a key lives for its ttl and at most the
// slack longer.
//
// Threads: any. Callbacks come on the calling thread or on the client's.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "store/etcd/await.h"
#include "store/etcd/etcd_context.h"
#include "store/etcd/grouping.h"

namespace berth::store::etcd {

class Leases {
 public:
  using Given = std::function<void(CallResult<Lease>)>;

  /// etcd deletes all keys of a lease in one revision, which has room for this many.
  static constexpr size_t kMaxKeys = 1000;

  /// `context` must outlive the object.
  explicit Leases(const Context& context) : context_(context) {}

  /// Gets a lease that has at least `ttl` left, for `keys` more keys.
  void Get(std::chrono::seconds ttl, size_t keys, Given given);

  /// Returns whether a key that is put with the lease now would live for its ttl.
  bool IsFresh(std::chrono::seconds ttl, const Lease& lease) const;
  /// Drops the lease for `ttl`, because etcd does not know it.
  void Forget(std::chrono::seconds ttl);

  /// Returns how much longer than `ttl` a lease is granted for.
  static std::chrono::seconds Slack(std::chrono::seconds ttl);
  /// Returns what is left of a key's ttl, given etcd's figures for its lease; at least one second.
  static std::chrono::seconds Left(int64_t granted, int64_t remaining);

 private:
  struct Waiting {
    size_t keys = 0;
    Given given;
  };
  struct Shared {
    Lease lease;
    size_t keys = 0;
    bool granting = false;
    std::vector<Waiting> waiting;
  };

  void Grant(std::chrono::seconds ttl);
  void Granted(std::chrono::seconds ttl, base::SteadyTime asked, std::chrono::seconds granted,
               CallResult<etcdserverpb::LeaseGrantResponse> reply);
  void DropOld() REQUIRES(mutex_);

  const Context& context_;
  mutable base::Mutex mutex_;
  std::map<std::chrono::seconds, Shared> shared_ GUARDED_BY(mutex_);
  std::chrono::seconds late_ GUARDED_BY(mutex_){0};  // Delay of the last grant.
};

}  // namespace berth::store::etcd
