// The endpoints of one etcd cluster: the channels to each, which of them are well, and which one to
// use. Calls stay with one endpoint, the leader's where it is known, until that one fails; it is
// then put aside, and comes back when it answers again and proves to be of the same cluster.
//
// Threads: every function may be called from any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "store/etcd/channel.h"
#include "store/etcd/etcd.grpc.pb.h"

namespace berth::store::etcd::wire {

using TimePoint = std::chrono::steady_clock::time_point;

/// One connection for unary calls.
struct Line {
  explicit Line(std::shared_ptr<grpc::Channel> to)
      : channel(std::move(to)), kv(channel), lease(channel), auth(channel), maintenance(channel) {}

  const std::shared_ptr<grpc::Channel> channel;
  etcdserverpb::KV::Stub kv;
  etcdserverpb::Lease::Stub lease;
  etcdserverpb::Auth::Stub auth;
  etcdserverpb::Maintenance::Stub maintenance;
};

/// Lives as long as its Pool.
class Endpoint {
 public:
  Endpoint(EndpointUrl url, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
           const ChannelSettings& settings, int lines);

  const EndpointUrl& Url() const { return url_; }
  /// The lines take turns.
  Line& NextLine() {
    return *lines_[turn_.fetch_add(1, std::memory_order_relaxed) % lines_.size()];
  }
  const std::vector<std::unique_ptr<Line>>& Lines() const { return lines_; }
  etcdserverpb::Watch::Stub& Watch() { return watch_; }
  /// Ends the pauses between attempts to connect.
  void Reconnect();

  /// Set by every answer; a health check that gets none clears it first and looks at it after.
  std::atomic<bool> answered{false};

 private:
  const EndpointUrl url_;
  std::vector<std::unique_ptr<Line>> lines_;
  const std::shared_ptr<grpc::Channel> watch_channel_;
  etcdserverpb::Watch::Stub watch_;
  std::atomic<size_t> turn_{0};
};

/// What became of a health check of an endpoint.
struct Checkup {
  bool answered = false;
  etcdserverpb::StatusResponse status;  // When it answered.
  std::string why;                      // When not.
  bool hopeless = false;                // It will not get better by waiting.
};

class Pool {
 public:
  Pool(std::vector<std::unique_ptr<Endpoint>> endpoints, base::Logger& log);

  /// The endpoint to use; null when none is well.
  Endpoint* Pick() EXCLUDES(mutex_);
  /// Waits for one; null when `deadline` passes or `stop` is set (then call Wake).
  Endpoint* AwaitPick(TimePoint deadline, const std::atomic<bool>& stop) EXCLUDES(mutex_);
  void Wake();
  /// Whether another endpoint could be used instead of this one.
  bool HasOther(const Endpoint& endpoint) const EXCLUDES(mutex_);

  /// A call met trouble there.
  void PutAside(Endpoint& endpoint, const std::string& why) EXCLUDES(mutex_);
  /// Whether an answer comes from our cluster, the one that answered first (or does not say).
  bool IsOurs(const etcdserverpb::ResponseHeader& header) const {
    return header.cluster_id() == cluster_.load(std::memory_order_relaxed) ||
           header.cluster_id() == 0;
  }
  /// An answer came from another one: the endpoint is not used any more; why, in words.
  std::string Expel(Endpoint& endpoint, const etcdserverpb::ResponseHeader& header)
      EXCLUDES(mutex_);

  /// The endpoints whose health is to be checked now; Report must follow for each.
  std::vector<Endpoint*> TakeDue(TimePoint now) EXCLUDES(mutex_);
  TimePoint NextDue() const EXCLUDES(mutex_);
  bool IsWell(const Endpoint& endpoint) const EXCLUDES(mutex_);
  void Report(Endpoint& endpoint, const Checkup& checkup, TimePoint now) EXCLUDES(mutex_);

  /// Waits until an endpoint is well and the others have been heard of (or have had time enough).
  /// False: none is well by `deadline`, or waiting for it has no point.
  bool AwaitFirst(TimePoint deadline) EXCLUDES(mutex_);
  /// Of an endpoint that belongs to another cluster than the first that answered; empty: none.
  std::string StrangerText() const EXCLUDES(mutex_);
  /// "http://a:2379: nothing listens there; http://b:2379: the member has no leader".
  std::string TroubleText() const EXCLUDES(mutex_);
  /// The version of the first member that answered.
  std::string Version() const EXCLUDES(mutex_);

 private:
  enum class Health : uint8_t { kUnknown, kWell, kAside };

  struct Entry {
    std::unique_ptr<Endpoint> endpoint;
    Health health = Health::kUnknown;
    bool checking = false;
    bool checked = false;  // At least once.
    bool hopeless = false;
    bool stranger = false;
    int failures = 0;  // Since it was last well for a while.
    TimePoint next_check{};
    TimePoint well_since{};
    uint64_t member = 0;
    std::string why;
  };

  Entry& EntryOf(const Endpoint& endpoint) REQUIRES(mutex_);
  const Entry& EntryOf(const Endpoint& endpoint) const REQUIRES(mutex_);
  Endpoint* PickLocked() REQUIRES(mutex_);
  /// Why the member may not be used; empty: it may.
  std::string Objection(Entry& entry, const etcdserverpb::StatusResponse& status) REQUIRES(mutex_);
  std::string StrangerWhy(const etcdserverpb::ResponseHeader& header) const REQUIRES(mutex_);
  void NoteLeader(const etcdserverpb::StatusResponse& status) REQUIRES(mutex_);
  void SetAside(Entry& entry, const std::string& why, TimePoint now) REQUIRES(mutex_);
  void SetWell(Entry& entry, TimePoint now) REQUIRES(mutex_);

  base::Logger& log_;
  mutable base::Mutex mutex_;
  base::CondVar changed_;
  std::vector<Entry> entries_ GUARDED_BY(mutex_);
  size_t preferred_ GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> cluster_{0};             // Changes once, under the mutex.
  std::string cluster_from_ GUARDED_BY(mutex_);  // The endpoint that told it.
  uint64_t leader_ GUARDED_BY(mutex_) = 0;
  uint64_t term_ GUARDED_BY(mutex_) = 0;
  std::string version_ GUARDED_BY(mutex_);
};

/// What to say of a version: an error when it is too old, a warning when it has bugs that matter.
struct VersionNote {
  std::string error;
  std::string warning;
};
VersionNote CheckVersion(std::string_view version);

}  // namespace berth::store::etcd::wire
