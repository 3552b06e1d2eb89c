#include "chaos/arena.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <utility>

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

namespace etcd = store::etcd;

constexpr size_t kTailLines = 120;

}  // namespace

void LogTail::Add(std::string_view line) {
  const base::MutexLock lock(mutex_);
  lines_.emplace_back(line);
  if (lines_.size() > kTailLines) lines_.pop_front();
}

std::string LogTail::Text() const {
  const base::MutexLock lock(mutex_);
  std::string text;
  for (const std::string& line : lines_) text += line;
  return text;
}

Arena::Arena(const ArenaOptions& options)
    : options_(options),
      log_({.sink = [this](std::string_view line) { tail_.Add(line); }}, clock_) {}

base::Result<std::unique_ptr<Arena>> Arena::Make(const ArenaOptions& options) {
  std::unique_ptr<Arena> arena(new Arena(options));
  etcd::testing::ServerOptions server{
      .members = kMembers, .durable = options.durable, .flags = options.flags};
  // Otherwise etcd would treat the pings of impatient clients as an attack.
  server.flags.emplace_back("--grpc-keepalive-min-time=1s");
  for (int i = 0; options.network != nullptr && i < kMembers; ++i) {
    server.hosts.push_back(Network::MemberHost(i));
    server.launchers.push_back(options.network->Launcher(i));
  }
  auto cluster = etcd::testing::EtcdCluster::Start(std::move(server));
  if (!cluster) return tl::unexpected(cluster.error());
  arena->cluster_ = std::move(*cluster);
  for (int i = 0; i < kReplicas; ++i) {
    arena->replicas_.push_back(arena->NewReplica(i));
    if (auto opened = arena->At(i).Open(); !opened) return tl::unexpected(opened.error());
  }
  return arena;
}

std::vector<store::Engine*> Arena::Engines() {
  std::vector<store::Engine*> engines;
  for (const auto& replica : replicas_) engines.push_back(replica.get());
  return engines;
}

etcd::ClientOptions Arena::ClientOf(int replica) const {
  etcd::ClientOptions client = cluster_->Client();
  for (int i = 0; options_.network != nullptr && i < kMembers; ++i) {
    std::string& endpoint = client.endpoints[static_cast<size_t>(i)];
    const std::string port = endpoint.substr(endpoint.rfind(':'));
    endpoint = "http://" + Network::MemberHost(i, replica) + port;
  }
  if (options_.impatient) {
    client.connect_timeout = 1s;
    client.call_timeout = 1500ms;
    client.keepalive = 2s;
  }
  return client;
}

std::unique_ptr<Replica> Arena::NewReplica(int replica) {
  // Only tests themselves compact, because a check reads all of history again.
  etcd::EtcdOptions options;
  options.ring_bytes = options_.ring_bytes;
  options.compact_interval = 0s;
  if (options_.impatient) options.commit_timeout = 3s;
  return std::make_unique<Replica>(ClientOf(replica), options, journal_, log_, clock_);
}

bool Arena::Heal() {
  if (options_.network != nullptr) options_.network->Heal();
  for (int i = 0; i < kMembers; ++i) {
    cluster_->Restart(i);
    cluster_->Resume(i);
  }
  if (!cluster_->WaitHealthy(60s)) return false;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  for (int i = 0; i < kReplicas; ++i) {
    while (!At(i).IsOpen() && !At(i).Open()) {
      if (std::chrono::steady_clock::now() > deadline) return false;
      std::this_thread::sleep_for(50ms);
    }
  }
  return true;
}

std::string Arena::Logs() const {
  std::string text = "the replicas' log:\n" + tail_.Text();
  for (int i = 0; i < kMembers; ++i) {
    text +=
        fmt::format("member {}'s log:\n{}\n", i, etcd::testing::Tail(cluster_->LogFile(i), 3000));
  }
  return text;
}

}  // namespace berth::chaos
