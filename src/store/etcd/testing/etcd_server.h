// Real etcd servers for tests: one or more members of the machine's own etcd, as processes that a
// test may kill, pause and restart. They use a loopback address of their own (127.x.y.z, made from
// the process id), so that tests that run side by side never meet. They die with the test, however
// it ends.
//
//   auto cluster = EtcdCluster::Start({.members = 3});
//   ASSERT_TRUE(cluster) << cluster.error().message;
//   auto client = Client::Connect((*cluster)->Client(), log, clock);
//   (*cluster)->Kill((*cluster)->Leader());
//
// Threads: every function may be called from any thread, but two calls that change the same member
// must not overlap.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/testing/certificates.h"
#include "store/etcd/testing/http.h"
#include "store/etcd/testing/process.h"

namespace berth::store::etcd::testing {

struct ServerOptions {
  int members = 1;
  bool tls = false;  // https:// only, with certificates of the cluster's own authority.
  bool client_cert_auth = false;     // With tls: clients must show a certificate.
  bool expired_server_cert = false;  // With tls.
  std::string server_alt_name = {};  // The name in the server's certificate instead of the members.
  /// If set, authentication is on and user root has this password.
  std::string root_password = {};
  bool durable = false;                 // On disk, with fsync; otherwise in memory, without fsync.
  std::vector<std::string> flags = {};  // "--max-txn-ops=512", "--quota-backend-bytes=...".
  /// The address of each member, and the prefix of its command ("ip", "netns", "exec", NAME), for
  /// tests that cut the network. Empty means that all share one loopback address and have no
  /// command prefix.
  std::vector<std::string> hosts = {};
  std::vector<std::vector<std::string>> launchers = {};
};

class EtcdCluster {
 public:
  /// Starts the members and waits until they are healthy (and authentication is on).
  static base::Result<std::unique_ptr<EtcdCluster>> Start(ServerOptions options);
  /// Kills the running members and deletes the data.
  ~EtcdCluster();
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  /// Returns the options to reach all members: endpoints, authority, certificate, user, password.
  ClientOptions Client() const;
  std::string Endpoint(int member) const;
  int Members() const { return static_cast<int>(members_.size()); }

  void Kill(int member);  // Sends SIGKILL and waits for the end.
  void Stop(int member);  // Sends SIGTERM for an orderly end and waits for it.
  void Pause(int member);
  void Resume(int member);
  /// Starts a member that was killed or stopped, with its old data. Does not wait for it.
  void Restart(int member);

  /// Returns the member that leads. Waits for an election if necessary. Returns -1 if there is no
  /// leader in time.
  int Leader(std::chrono::milliseconds limit = std::chrono::seconds(20)) const;
  /// Waits until every running member is healthy. Returns false if that takes too long.
  bool WaitHealthy(std::chrono::milliseconds limit = std::chrono::seconds(20)) const;

  /// Calls etcd's JSON gateway at some member, as root if authentication is on:
  /// Post("/v3/auth/user/add", R"({"name":"ann","password":"x"})").
  base::Result<std::string> Post(const std::string& path, const std::string& json) const;

  /// Returns a directory for the test's own files, which is deleted with the cluster.
  const std::string& Dir() const { return dir_; }
  /// Returns null without tls.
  const CertificateAuthority* Authority() const { return authority_.get(); }
  pid_t Pid(int member) const { return members_[static_cast<size_t>(member)].pid; }
  std::string LogFile(int member) const;

 private:
  struct Member {
    std::string host;
    /// Port for clients. The next two are for administration (plain) and for peers.
    int port = 0;
    pid_t pid = -1;
    bool paused = false;

    int AdminPort() const { return port + 1; }
    int PeerPort() const { return port + 2; }
  };

  explicit EtcdCluster(ServerOptions options);

  std::vector<std::string> Command(int member) const;
  void ChoosePorts();
  void MakeCertificates();
  base::Result<void> EnableAuth() const;
  std::string Token() const;
  void End(int member, int signal);
  bool Healthy(const Member& member) const;
  Member& At(int member) { return members_[static_cast<size_t>(member)]; }

  const ServerOptions options_;
  std::string dir_;
  std::vector<Member> members_;
  std::unique_ptr<CertificateAuthority> authority_;
  CertificateFiles server_cert_;
  CertificateFiles client_cert_;
  Spawner spawner_;
};

/// Returns the end of a file, for messages.
std::string Tail(const std::string& path, size_t bytes = 2000);

}  // namespace berth::store::etcd::testing
