#include "store/etcd/testing/etcd_server.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace berth::store::etcd::testing {
namespace {

/// Below the range that the kernel uses for outgoing connections.
constexpr int kFirstPort = 10'000;
constexpr int kPortsPerMember = 3;

std::string OwnLoopback() {
  const auto id = static_cast<unsigned>(getpid());
  return fmt::format("127.{}.{}.{}", 64 + (id >> 16 & 63), id >> 8 & 255, id & 255);
}

bool IsFree(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  inet_pton(AF_INET, host.c_str(), &address.sin_addr);
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool free = bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0;
  close(fd);
  return free;
}

bool Poll(std::chrono::milliseconds limit, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

constexpr std::string_view kDirPrefix = "berth_etcd_";

/// Removes the data of tests that were killed, which is 64 MB or more per member.
void RemoveLeftovers(const std::filesystem::path& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(kDirPrefix)) continue;
    const int owner = std::atoi(name.c_str() + kDirPrefix.size());
    if (owner > 0 && kill(owner, 0) != 0 && errno == ESRCH) {
      std::filesystem::remove_all(entry.path(), ignored);
    }
  }
}

std::string MakeDir(bool durable) {
  const char* set = std::getenv("TMPDIR");
  const std::string parent = durable ? (set != nullptr ? set : "/tmp") : "/dev/shm";
  RemoveLeftovers(parent);
  std::string path = fmt::format("{}/{}{}_XXXXXX", parent, kDirPrefix, getpid());
  return mkdtemp(path.data()) != nullptr ? path : std::string();
}

}  // namespace

std::string Tail(const std::string& path, size_t bytes) {
  std::ifstream file(path);
  std::stringstream all;
  all << file.rdbuf();
  const std::string text = all.str();
  return text.size() <= bytes ? text : text.substr(text.size() - bytes);
}

EtcdCluster::EtcdCluster(ServerOptions options)
    : options_(std::move(options)), dir_(MakeDir(options_.durable)) {
  members_.resize(static_cast<size_t>(options_.members));
}

base::Result<std::unique_ptr<EtcdCluster>> EtcdCluster::Start(ServerOptions options) {
  std::unique_ptr<EtcdCluster> cluster(new EtcdCluster(std::move(options)));
  if (cluster->dir_.empty()) {
    return base::Fail(base::Reason::kInternalError, "no directory for etcd's data");
  }
  cluster->ChoosePorts();
  cluster->MakeCertificates();
  for (int i = 0; i < cluster->Members(); ++i) cluster->Restart(i);
  if (!cluster->WaitHealthy()) {
    return base::Fail(base::Reason::kInternalError,
                      "etcd does not become healthy; the first member's log ends with:\n" +
                          Tail(cluster->LogFile(0)));
  }
  if (!cluster->options_.root_password.empty()) {
    if (auto enabled = cluster->EnableAuth(); !enabled) return tl::unexpected(enabled.error());
  }
  return cluster;
}

EtcdCluster::~EtcdCluster() {
  for (const Member& member : members_) {
    if (member.pid > 0) kill(member.pid, SIGKILL);
  }
  for (const Member& member : members_) {
    if (member.pid > 0) waitpid(member.pid, nullptr, 0);
  }
  std::error_code ignored;
  if (!dir_.empty()) std::filesystem::remove_all(dir_, ignored);
}

void EtcdCluster::ChoosePorts() {
  static std::atomic<int> next{kFirstPort};
  for (size_t i = 0; i < members_.size(); ++i) {
    Member& member = members_[i];
    member.host = options_.hosts.empty() ? OwnLoopback() : options_.hosts[i];
    const auto taken = [&](int port) {
      return options_.hosts.empty() && !IsFree(member.host, port);
    };
    do {
      member.port = next.fetch_add(kPortsPerMember);
    } while (taken(member.port) || taken(member.AdminPort()) || taken(member.PeerPort()));
  }
}

void EtcdCluster::MakeCertificates() {
  if (!options_.tls) return;
  authority_ = std::make_unique<CertificateAuthority>(dir_, "ca");
  CertificateOptions server{.name = "server", .alt_name = options_.server_alt_name};
  for (const Member& member : members_) {
    if (!options_.server_alt_name.empty() || server.alt_name.find(member.host) != std::string::npos)
      continue;
    server.alt_name += (server.alt_name.empty() ? "IP:" : ",IP:") + member.host;
  }
  if (options_.expired_server_cert) {
    server.from = std::chrono::hours(-72);
    server.until = std::chrono::hours(-24);
  }
  server_cert_ = authority_->Issue(server);
  client_cert_ = authority_->Issue({.name = "client", .alt_name = ""});
}

std::vector<std::string> EtcdCluster::Command(int member) const {
  const Member& self = members_[static_cast<size_t>(member)];
  std::string cluster;
  for (int i = 0; i < Members(); ++i) {
    const Member& peer = members_[static_cast<size_t>(i)];
    cluster += fmt::format("{}m{}=http://{}:{}", i == 0 ? "" : ",", i, peer.host, peer.PeerPort());
  }
  // In a network namespace a member may have further addresses for clients.
  const std::string listen = options_.hosts.empty() ? self.host : "0.0.0.0";
  const std::string peer_url = fmt::format("http://{}:{}", self.host, self.PeerPort());
  std::vector<std::string> command;
  if (!options_.launchers.empty()) command = options_.launchers[static_cast<size_t>(member)];
  for (std::string argument :
       {std::string("/usr/bin/etcd"), fmt::format("--name=m{}", member),
        fmt::format("--data-dir={}/m{}", dir_, member),
        fmt::format("--listen-client-urls={}://{}:{},http://{}:{}", options_.tls ? "https" : "http",
                    listen, self.port, listen, self.AdminPort()),
        "--advertise-client-urls=" + Endpoint(member), "--listen-peer-urls=" + peer_url,
        "--initial-advertise-peer-urls=" + peer_url, "--initial-cluster=" + cluster,
        // Differs from other tests' clusters, so that strangers are recognized.
        "--initial-cluster-token=" + dir_, std::string("--heartbeat-interval=50"),
        std::string("--election-timeout=500"), std::string("--bcrypt-cost=4"),
        std::string("--logger=zap"), std::string("--log-outputs=stderr"),
        std::string("--log-level=warn")}) {
    command.push_back(std::move(argument));
  }
  if (!options_.durable) command.emplace_back("--unsafe-no-fsync");
  if (options_.tls) {
    command.push_back("--cert-file=" + server_cert_.cert);
    command.push_back("--key-file=" + server_cert_.key);
    if (options_.client_cert_auth) {
      command.emplace_back("--client-cert-auth");
      command.push_back("--trusted-ca-file=" + authority_->File());
    }
  }
  command.insert(command.end(), options_.flags.begin(), options_.flags.end());
  return command;
}

ClientOptions EtcdCluster::Client() const {
  ClientOptions client;
  for (int i = 0; i < Members(); ++i) client.endpoints.push_back(Endpoint(i));
  if (options_.tls) client.ca_file = authority_->File();
  if (options_.client_cert_auth) {
    client.cert_file = client_cert_.cert;
    client.key_file = client_cert_.key;
  }
  if (!options_.root_password.empty()) {
    client.user = "root";
    client.password = options_.root_password;
  }
  return client;
}

std::string EtcdCluster::Endpoint(int member) const {
  const Member& self = members_[static_cast<size_t>(member)];
  return fmt::format("{}://{}:{}", options_.tls ? "https" : "http", self.host, self.port);
}

std::string EtcdCluster::LogFile(int member) const {
  return fmt::format("{}/m{}.log", dir_, member);
}

void EtcdCluster::End(int member, int signal) {
  Member& self = At(member);
  if (self.pid <= 0) return;
  if (self.paused && signal != SIGKILL) Resume(member);
  kill(self.pid, signal);
  waitpid(self.pid, nullptr, 0);
  self.pid = -1;
  self.paused = false;
}

void EtcdCluster::Kill(int member) { End(member, SIGKILL); }
void EtcdCluster::Stop(int member) { End(member, SIGTERM); }

void EtcdCluster::Pause(int member) {
  if (At(member).pid <= 0) return;  // kill(-1) would signal every process.
  kill(At(member).pid, SIGSTOP);
  waitpid(At(member).pid, nullptr, WUNTRACED);  // Waits until all its threads have stopped.
  At(member).paused = true;
}

void EtcdCluster::Resume(int member) {
  if (At(member).pid <= 0) return;
  kill(At(member).pid, SIGCONT);
  At(member).paused = false;
}

void EtcdCluster::Restart(int member) {
  if (At(member).pid > 0) return;
  At(member).pid = spawner_.Spawn(Command(member), LogFile(member));
}

bool EtcdCluster::Healthy(const Member& member) const {
  const auto answer = HttpFetch(member.host, member.AdminPort(), "/health");
  return answer && answer->code == 200;
}

bool EtcdCluster::WaitHealthy(std::chrono::milliseconds limit) const {
  return Poll(limit, [&] {
    for (const Member& member : members_) {
      if (member.pid > 0 && !member.paused && !Healthy(member)) return false;
    }
    return true;
  });
}

int EtcdCluster::Leader(std::chrono::milliseconds limit) const {
  int leader = -1;
  Poll(limit, [&] {
    leader = -1;
    for (int i = 0; i < Members(); ++i) {
      const Member& member = members_[static_cast<size_t>(i)];
      if (member.pid <= 0 || member.paused) continue;
      const auto answer = HttpFetch(member.host, member.AdminPort(), "/metrics");
      if (!answer || answer->body.find("\netcd_server_is_leader 1\n") == std::string::npos)
        continue;
      // A leader that was cut off may not know yet that there is another one.
      if (Healthy(member)) leader = i;
    }
    return leader >= 0;
  });
  return leader;
}

std::string EtcdCluster::Token() const {
  if (options_.root_password.empty()) return {};
  for (const Member& member : members_) {
    if (member.pid <= 0 || member.paused) continue;
    const auto answer =
        HttpFetch(member.host, member.AdminPort(), "/v3/auth/authenticate",
                  fmt::format(R"({{"name":"root","password":"{}"}})", options_.root_password));
    constexpr std::string_view kField = "\"token\":\"";
    const size_t at = answer ? answer->body.find(kField) : std::string::npos;
    if (at == std::string::npos) continue;
    const size_t begin = at + kField.size();
    return answer->body.substr(begin, answer->body.find('"', begin) - begin);
  }
  return {};
}

base::Result<std::string> EtcdCluster::Post(const std::string& path,
                                            const std::string& json) const {
  const std::string token = Token();
  std::string failure = "no member runs";
  for (const Member& member : members_) {
    if (member.pid <= 0 || member.paused) continue;
    auto answer =
        HttpFetch(member.host, member.AdminPort(), path, json, token, std::chrono::seconds(10));
    if (answer && answer->code == 200) return std::move(answer->body);
    failure = answer ? answer->body : "no answer";
  }
  return base::Fail(base::Reason::kInternalError, fmt::format("{}: {}", path, failure));
}

base::Result<void> EtcdCluster::EnableAuth() const {
  const std::pair<const char*, std::string> steps[] = {
      {"/v3/auth/user/add",
       fmt::format(R"({{"name":"root","password":"{}"}})", options_.root_password)},
      {"/v3/auth/role/add", R"({"name":"root"})"},
      {"/v3/auth/user/grant", R"({"user":"root","role":"root"})"},
      {"/v3/auth/enable", "{}"}};
  for (const auto& [path, json] : steps) {
    if (auto done = Post(path, json); !done) return tl::unexpected(done.error());
  }
  return {};
}

}  // namespace berth::store::etcd::testing
