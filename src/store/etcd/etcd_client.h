// A client of etcd's v3 API: unary calls and watch streams over gRPC, with failover between
// endpoints, TLS, passwords and deadlines. It knows etcd, but not Berth's keys, revisions or
// transactions. It reports for every failed call whether the call may still take effect. It repeats
// only what is safe to repeat: reads, and writes that no server has accepted. If no endpoint is
// healthy, a call waits for one until its deadline.
//
// Threads: every function may be called from any thread. Replies come on the client's own threads.
// They must be quick and must not wait for another call of the client. The destructor cancels
// everything that is in flight (watches too), calls every reply, and then returns.
//
// The first client switches off gRPC's own logging, which writes to standard error, for the whole
// process. Proxies from the environment (http_proxy) are not used.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "store/etcd/etcd.pb.h"

namespace berth::store::etcd {

struct ClientOptions {
  std::vector<std::string> endpoints;  // "http://127.0.0.1:2379" or "https://..."; no path.
  std::string ca_file;                 // PEM; empty means the system's authorities.
  std::string cert_file;  // PEM of the client's certificate; empty means no certificate.
  std::string key_file;
  std::string user;  // Empty means no login with a password.
  std::string password;
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds call_timeout{8000};  // Longer than etcd's own 7 s per proposal.
  std::chrono::seconds keepalive{30};
  int channels = 2;  // Per endpoint, for unary calls; watches have their own channel.
};

struct CallError {
  base::Error error = {};   // Text for a person; names the endpoint.
  bool ambiguous = false;   // For a write: it may have happened, or may still happen.
  bool never_sent = false;  // No server has received the call.
  int code = 0;             // grpc::StatusCode.
  std::string text = {};    // etcd's own text.
  /// Set with `ambiguous` if the write has either happened or never will. Nothing is in flight any
  /// more, so a read is enough to resolve it. etcd may apply a write and still answer that its
  /// database is full.
  bool settled = false;
};

template <typename T>
using Reply = std::function<void(tl::expected<T, CallError>)>;

/// One etcd watch on its own stream. The destructor cancels it and waits for a running callback, so
/// a callback must never destroy it.
class WatchStream {
 public:
  virtual ~WatchStream() = default;
};

struct WatchCallbacks {
  /// Called with each response. Fragments are already joined, so the events of a revision are never
  /// split. The next response is read when this returns, so a slow reader delays only its own
  /// stream. Responses that carry `canceled` are delivered here too and are followed by on_end.
  std::function<void(etcdserverpb::WatchResponse)> on_response;
  /// Called once, as the last callback, when the stream has ended.
  std::function<void(CallError)> on_end;
};

class Client {
 public:
  /// Reads the files named in the options, finds a member that answers, and logs in. The error says
  /// what a person must fix: nothing listens, wrong password, expired or unknown certificate, not
  /// an etcd. `log` and `clock` must outlive the client.
  static base::Result<std::unique_ptr<Client>> Connect(const ClientOptions& options,
                                                       base::Logger& log, const base::Clock& clock);
  virtual ~Client() = default;

  virtual void Range(etcdserverpb::RangeRequest request,
                     Reply<etcdserverpb::RangeResponse> reply) = 0;
  virtual void Txn(etcdserverpb::TxnRequest request, Reply<etcdserverpb::TxnResponse> reply) = 0;
  virtual void Compact(etcdserverpb::CompactionRequest request,
                       Reply<etcdserverpb::CompactionResponse> reply) = 0;
  virtual void LeaseGrant(etcdserverpb::LeaseGrantRequest request,
                          Reply<etcdserverpb::LeaseGrantResponse> reply) = 0;
  virtual void LeaseRevoke(etcdserverpb::LeaseRevokeRequest request,
                           Reply<etcdserverpb::LeaseRevokeResponse> reply) = 0;
  virtual void LeaseTimeToLive(etcdserverpb::LeaseTimeToLiveRequest request,
                               Reply<etcdserverpb::LeaseTimeToLiveResponse> reply) = 0;
  /// Sends one keep-alive.
  virtual void LeaseKeepAlive(etcdserverpb::LeaseKeepAliveRequest request,
                              Reply<etcdserverpb::LeaseKeepAliveResponse> reply) = 0;

  /// Opens a stream to a member that has a leader and creates the watch on it.
  virtual std::unique_ptr<WatchStream> Watch(etcdserverpb::WatchCreateRequest request,
                                             WatchCallbacks callbacks) = 0;

  /// Returns the version that the first member reported at Connect: "3.4.23".
  virtual std::string ServerVersion() const = 0;

  /// Returns whether every endpoint now answers for another cluster than the first that answered.
  virtual bool IsReplaced() const { return false; }

 protected:
  Client() = default;
};

}  // namespace berth::store::etcd
