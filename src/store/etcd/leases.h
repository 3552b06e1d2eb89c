// Leases for keys that expire. Keys put within a short while with the same ttl share one, as etcd
// is slow with very many leases: it is granted with a slack on top of the ttl and given out while
// at least the ttl is left of it. So a key lives for its ttl and at most the slack longer.
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
#include "store/etcd/context.h"
#include "store/etcd/grouping.h"

namespace berth::store::etcd {

class Leases {
 public:
  using Given = std::function<void(CallResult<Lease>)>;

  /// etcd deletes all keys of a lease in one revision, which has room for so many.
  static constexpr size_t kMaxKeys = 1000;

  /// `context` must outlive it.
  explicit Leases(const Context& context) : context_(context) {}

  /// A lease of which at least `ttl` is left, for `keys` more keys.
  void Get(std::chrono::seconds ttl, size_t keys, Given given);

  /// Whether a key put with it now would live for its ttl.
  bool IsFresh(std::chrono::seconds ttl, const Lease& lease) const;
  /// etcd does not know it: not to be given out again.
  void Forget(std::chrono::seconds ttl);

  /// What a lease granted for `ttl` has on top.
  static std::chrono::seconds Slack(std::chrono::seconds ttl);
  /// What is left of a key's ttl, given what etcd says of its lease; at least a second.
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
  std::chrono::seconds late_ GUARDED_BY(mutex_){0};  // How late the last grant came.
};

}  // namespace berth::store::etcd
