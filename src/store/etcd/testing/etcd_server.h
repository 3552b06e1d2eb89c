// Real etcd servers for tests: one or more members of the machine's own etcd, as processes that a
// test may kill, pause and start again. They live on a loopback address of their own (127.x.y.z
// made from the process id), so that tests running side by side never meet, and they die with the
// test whatever ends it.
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
#include "store/etcd/client.h"
#include "store/etcd/testing/certificates.h"
#include "store/etcd/testing/http.h"
#include "store/etcd/testing/process.h"

namespace berth::store::etcd::testing {

struct ServerOptions {
  int members = 1;
  bool tls = false;  // https:// only, with certificates of the cluster's own authority.
  bool client_cert_auth = false;     // With tls: clients must show a certificate.
  bool expired_server_cert = false;  // With tls.
  std::string server_alt_name = {};  // Who the server's certificate names instead of the members.
  std::string root_password = {};  // Not empty: authentication is on, user root has this password.
  bool durable = false;            // On disk, with fsync; else in memory, and without.
  std::vector<std::string> flags = {};  // "--max-txn-ops=512", "--quota-backend-bytes=...".
  /// Where each member lives and what its command is prefixed with ("ip", "netns", "exec", NAME),
  /// for tests that cut the network; empty: all on one loopback address, started as they are.
  std::vector<std::string> hosts = {};
  std::vector<std::vector<std::string>> launchers = {};
};

class EtcdCluster {
 public:
  /// Starts the members and waits until they are healthy (and authentication is on).
  static base::Result<std::unique_ptr<EtcdCluster>> Start(ServerOptions options);
  /// Kills what runs and removes the data.
  ~EtcdCluster();
  EtcdCluster(const EtcdCluster&) = delete;
  EtcdCluster& operator=(const EtcdCluster&) = delete;

  /// What a client needs to reach all members: endpoints, authority, certificate, user, password.
  ClientOptions Client() const;
  std::string Endpoint(int member) const;
  int Members() const { return static_cast<int>(members_.size()); }

  void Kill(int member);  // kill -9, and waits until it is gone.
  void Stop(int member);  // SIGTERM: an orderly end; waits for it.
  void Pause(int member);
  void Resume(int member);
  /// Starts a member that was killed or stopped, with its old data; does not wait for it.
  void Restart(int member);

  /// The member that leads, waiting for an election if need be; -1 when there is none in time.
  int Leader(std::chrono::milliseconds limit = std::chrono::seconds(20)) const;
  /// Until every member that runs is healthy; false when that takes too long.
  bool WaitHealthy(std::chrono::milliseconds limit = std::chrono::seconds(20)) const;

  /// A call of etcd's JSON gateway at some member, as root if authentication is on:
  /// Post("/v3/auth/user/add", R"({"name":"ann","password":"x"})").
  base::Result<std::string> Post(const std::string& path, const std::string& json) const;

  /// A directory for the test's own files; gone with the cluster.
  const std::string& Dir() const { return dir_; }
  /// Null without tls.
  const CertificateAuthority* Authority() const { return authority_.get(); }
  pid_t Pid(int member) const { return members_[static_cast<size_t>(member)].pid; }
  std::string LogFile(int member) const;

 private:
  struct Member {
    std::string host;
    int port = 0;  // Of clients; the two after it are of administration (plain) and of peers.
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

/// The end of a file, for messages.
std::string Tail(const std::string& path, size_t bytes = 2000);

}  // namespace berth::store::etcd::testing
