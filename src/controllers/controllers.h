// What keeps the rest true in the background: garbage collection over owner references, the end of
// namespaces and ServiceCIDRs that are deleted, the status of ranges, this replica among the
// others, and the Service default/kubernetes. One thread, which sleeps while nothing changes; its
// writes go the way of everybody's.
//
// Threads: Start and Stop from one, once each; Pump instead of them, from one at a time, where a
// simulation decides when things happen.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "controllers/bootstrap.h"
#include "controllers/cidr_finisher.h"
#include "controllers/feed.h"
#include "controllers/fence_keeper.h"
#include "controllers/garbage_collector.h"
#include "controllers/namespace_terminator.h"
#include "controllers/range_status_keeper.h"
#include "controllers/replica_register.h"
#include "controllers/wake.h"
#include "controllers/writer.h"
#include "registry/registry.h"
#include "state/follower.h"
#include "watch/hub.h"

namespace berth::controllers {

class Controllers {
 public:
  struct Parts {
    registry::Registry& registry;
    state::Follower& follower;  // Its first picture must be there.
    watch::Hub& hub;
    commit::Allocations& allocations;
    const base::Clock& clock;
    base::Logger& log;
    uint16_t secure_port = 6443;
    ReplicaFacts replica = {};
  };

  /// All parts must outlive it, or end all writes before they go.
  Controllers(const Parts& parts, const base::SeededRandom& random);
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  void Start();
  /// Writes that are under way go on; nobody hears of their end.
  void Stop();

  /// Does some of what there is to do now; whether there may be more.
  bool Pump();
  /// When there will be more, other than by changes and answers.
  base::SteadyTime NextDue() const;

 private:
  void Run();

  const base::Clock& clock_;
  const WakePtr wake_;
  Writer writer_;
  const Context context_;
  GarbageCollector collector_;
  NamespaceTerminator terminator_;
  KubernetesServiceKeeper keeper_;
  RangeStatusKeeper statuses_;
  CidrFinisher cidrs_;
  FenceKeeper fences_;
  ReplicaRegister replica_;
  Feed feed_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace berth::controllers
