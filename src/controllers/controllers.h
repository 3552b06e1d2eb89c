// The background work: garbage collection over owner references, the end of namespaces and
// ServiceCIDRs that are being deleted, the status of ranges, the registration of this replica, the
// Service default/kubernetes with its endpoints, and the first namespaces. All of it runs on one
// thread, which sleeps while nothing changes. Its writes take the same path as those of clients.
//
// Threads: Start and Stop from one thread, once each. A simulation that decides when things happen
// calls Pump instead, from one thread at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "allocation/allocator.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "controllers/bootstrap.h"
#include "controllers/cidr_finisher.h"
#include "controllers/controller_feed.h"
#include "controllers/fence_keeper.h"
#include "controllers/garbage_collector.h"
#include "controllers/job_lease.h"
#include "controllers/kubernetes_endpoints.h"
#include "controllers/namespace_keeper.h"
#include "controllers/namespace_terminator.h"
#include "controllers/range_findings.h"
#include "controllers/range_status_keeper.h"
#include "controllers/range_takeover.h"
#include "controllers/replica_register.h"
#include "controllers/wake.h"
#include "controllers/writer.h"
#include "ip/cidr.h"
#include "registry/registry.h"
#include "state/follower.h"
#include "watch/hub.h"

namespace berth::controllers {

class Controllers {
 public:
  struct Parts {
    registry::Registry& registry;
    state::Follower& follower;  // Its first snapshot must exist.
    watch::Hub& hub;
    allocation::Ledger& ledger;
    allocation::Allocator& allocator;
    const base::Clock& clock;
    base::Logger& log;
    uint16_t secure_port = 6443;
    ReplicaFacts replica = {};
    const RangeFindings* findings = nullptr;  // Of the auditor. May be null.
    /// After how long another replica takes over a job of one that has died.
    std::chrono::nanoseconds job_lease_lasts = kJobLeaseLasts;
    /// The CIDRs of --service-cluster-ip-range if an operator has set it, the primary one first.
    std::vector<ip::Cidr> asked_cidrs = {};
  };

  /// All parts must outlive it, or end all writes before they are destroyed.
  Controllers(const Parts& parts, const base::SeededRandom& random);
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

  void Start();
  /// Stops the thread. Writes in progress continue, but their results are dropped.
  void Stop();

  /// Does some of the work that is due. Returns whether there may be more.
  bool Pump();
  /// Returns when more work is due, apart from changes and answers.
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
  JobLease status_job_;
  RangeStatusKeeper statuses_;
  CidrFinisher cidrs_;
  RangeTakeover takeover_;
  FenceKeeper fences_;
  ReplicaRegister replica_;
  KubernetesEndpointsKeeper endpoints_;
  NamespaceKeeper namespaces_;
  Feed feed_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace berth::controllers
