// A client of etcd's v3 API: unary calls and watch streams over gRPC, with failover between
// endpoints, TLS, passwords and deadlines. It knows etcd, and nothing of Berth's keys, revisions or
// transactions. It says of every failed call whether it may still take effect; it repeats only
// what is safe to repeat: reads, and writes that no server has taken on. A call for which no
// endpoint is well waits for one as long as its time lasts.
//
// Threads: every function may be called from any thread. Replies come on the client's own threads;
// they must be quick and must not wait for another call of the client. The destructor cancels what
// is under way (watches as well), lets every reply be called, and then returns.
//
// The first client switches off gRPC's own logging, which writes to standard error, for the whole
// process. Proxies of the environment (http_proxy) are not used.
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
  std::string ca_file;                 // PEM; empty: the system's.
  std::string cert_file;               // PEM, of the client; empty: none.
  std::string key_file;
  std::string user;  // Empty: no password login.
  std::string password;
  std::chrono::milliseconds connect_timeout{5000};
  std::chrono::milliseconds call_timeout{8000};  // Longer than etcd's own 7 s per proposal.
  std::chrono::seconds keepalive{30};
  int channels = 2;  // Per endpoint, for unary calls; watches have one of their own.
};

struct CallError {
  base::Error error = {};   // What to tell a person; names the endpoint.
  bool ambiguous = false;   // A write that may have happened or may still happen.
  bool never_sent = false;  // No server has seen it.
  int code = 0;             // grpc::StatusCode.
  std::string text = {};    // etcd's own words.
  /// With `ambiguous`: it has happened or it never will; nothing is under way any more, so reading
  /// is enough to find out. etcd may apply a write and answer that its database is full.
  bool settled = false;
};

template <typename T>
using Reply = std::function<void(tl::expected<T, CallError>)>;

/// One etcd watch on a stream of its own. Destroying it cancels it and waits for a callback under
/// way (so never destroy it inside one).
class WatchStream {
 public:
  virtual ~WatchStream() = default;
};

struct WatchCallbacks {
  /// Each response, fragments already joined: the events of a revision are never split. The next
  /// one is read when this returns: a slow reader holds up its own stream only. Responses that
  /// carry `canceled` come through here as well and are followed by on_end.
  std::function<void(etcdserverpb::WatchResponse)> on_response;
  /// The stream is over; called once, last.
  std::function<void(CallError)> on_end;
};

class Client {
 public:
  /// Reads the files named, finds a member that answers and logs in. Fails with what a person must
  /// mend: nothing listens, wrong password, expired or unknown certificate, not an etcd. `log` and
  /// `clock` must outlive the client.
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
  /// One round of keep-alive.
  virtual void LeaseKeepAlive(etcdserverpb::LeaseKeepAliveRequest request,
                              Reply<etcdserverpb::LeaseKeepAliveResponse> reply) = 0;

  /// Opens a stream to one member that has a leader and creates the watch on it.
  virtual std::unique_ptr<WatchStream> Watch(etcdserverpb::WatchCreateRequest request,
                                             WatchCallbacks callbacks) = 0;

  /// As the first member that answered said it at Connect: "3.4.23".
  virtual std::string ServerVersion() const = 0;

 protected:
  Client() = default;
};

}  // namespace berth::store::etcd
