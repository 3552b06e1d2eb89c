// The endpoints of one etcd cluster: the channels to each, which of them are healthy, and which one
// to use. Calls stay with one endpoint, the leader's if it is known, until that one fails. It is
// then put aside, and is used again once it answers and proves to belong to the same cluster.
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
  /// Returns the lines in turn.
  Line& NextLine() {
    return *lines_[turn_.fetch_add(1, std::memory_order_relaxed) % lines_.size()];
  }
  const std::vector<std::unique_ptr<Line>>& Lines() const { return lines_; }
  etcdserverpb::Watch::Stub& Watch() { return watch_; }
  /// Ends the pauses between attempts to connect.
  void Reconnect();

  /// Set by every answer. A health check clears it first, and reads it afterwards if it got no
  /// answer.
  std::atomic<bool> answered{false};

 private:
  const EndpointUrl url_;
  std::vector<std::unique_ptr<Line>> lines_;
  const std::shared_ptr<grpc::Channel> watch_channel_;
  etcdserverpb::Watch::Stub watch_;
  std::atomic<size_t> turn_{0};
};

/// The result of a health check of an endpoint.
struct Checkup {
  bool answered = false;
  etcdserverpb::StatusResponse status;  // If it answered.
  std::string why;                      // If it did not answer.
  bool hopeless = false;                // Waiting does not help.
};

class Pool {
 public:
  Pool(std::vector<std::unique_ptr<Endpoint>> endpoints, base::Logger& log);

  /// Returns the endpoint to use, or null if none is healthy.
  Endpoint* Pick() EXCLUDES(mutex_);
  /// Waits for a healthy endpoint. Returns null if `deadline` passes or `stop` is set (then call
  /// Wake).
  Endpoint* AwaitPick(TimePoint deadline, const std::atomic<bool>& stop) EXCLUDES(mutex_);
  void Wake();
  /// Returns whether another endpoint could be used instead of this one.
  bool HasOther(const Endpoint& endpoint) const EXCLUDES(mutex_);

  /// Stops using the endpoint, because a call failed there.
  void PutAside(Endpoint& endpoint, const std::string& why) EXCLUDES(mutex_);
  /// Returns whether an answer comes from our cluster, the one that answered first (or does not
  /// say).
  bool IsOurs(const etcdserverpb::ResponseHeader& header) const {
    return header.cluster_id() == cluster_.load(std::memory_order_relaxed) ||
           header.cluster_id() == 0;
  }
  /// Stops using an endpoint that answered for another cluster. Returns the reason in words.
  std::string Expel(Endpoint& endpoint, const etcdserverpb::ResponseHeader& header)
      EXCLUDES(mutex_);

  /// Returns the endpoints whose health must be checked now. Report must follow for each.
  std::vector<Endpoint*> TakeDue(TimePoint now) EXCLUDES(mutex_);
  TimePoint NextDue() const EXCLUDES(mutex_);
  bool IsWell(const Endpoint& endpoint) const EXCLUDES(mutex_);
  void Report(Endpoint& endpoint, const Checkup& checkup, TimePoint now) EXCLUDES(mutex_);

  /// Waits until an endpoint is healthy and the others have answered (or have had enough time).
  /// Returns false if none is healthy by `deadline`, or if waiting has no point.
  bool AwaitFirst(TimePoint deadline) EXCLUDES(mutex_);
  /// Returns text about an endpoint that belongs to another cluster than the first one that
  /// answered. Returns an empty text if there is no such endpoint.
  std::string StrangerText() const EXCLUDES(mutex_);
  /// Returns whether every endpoint belongs to another cluster than the first one that answered.
  bool AllStrangers() const EXCLUDES(mutex_);
  /// Returns, for example, "http://a:2379: nothing listens there; http://b:2379: the member has no
  /// leader".
  std::string TroubleText() const EXCLUDES(mutex_);
  /// Returns the version of the first member that answered.
  std::string Version() const EXCLUDES(mutex_);

 private:
  enum class Health : uint8_t { kUnknown, kWell, kAside };

  struct Entry {
    std::unique_ptr<Endpoint> endpoint;
    Health health = Health::kUnknown;
    bool checking = false;
    bool checked = false;  // It was checked at least once.
    bool hopeless = false;
    bool stranger = false;
    int failures = 0;  // Failures since it was last healthy for a while.
    TimePoint next_check{};
    TimePoint well_since{};
    uint64_t member = 0;
    std::string why;
  };

  Entry& EntryOf(const Endpoint& endpoint) REQUIRES(mutex_);
  const Entry& EntryOf(const Endpoint& endpoint) const REQUIRES(mutex_);
  Endpoint* PickLocked() REQUIRES(mutex_);
  /// Returns why the member may not be used, or an empty text if it may.
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
  std::string cluster_from_ GUARDED_BY(mutex_);  // The endpoint that reported it.
  uint64_t leader_ GUARDED_BY(mutex_) = 0;
  uint64_t term_ GUARDED_BY(mutex_) = 0;
  std::string version_ GUARDED_BY(mutex_);
};

/// Notes about a version: an error if it is too old, a warning if it has bugs that matter.
struct VersionNote {
  std::string error;
  std::string warning;
};
VersionNote CheckVersion(std::string_view version);

}  // namespace berth::store::etcd::wire
