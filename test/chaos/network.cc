#include "chaos/network.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

namespace berth::chaos {
namespace {

tl::unexpected<base::Error> Failed(std::string message) {
  return base::Fail(base::Reason::kServiceUnavailable, std::move(message));
}

/// Runs a shell command with the programs of Debian's packages alone. If it fails, the error has
/// its output.
base::Result<void> Run(const std::string& command) {
  FILE* const output = popen(("export PATH=/usr/bin:/bin; " + command + " 2>&1").c_str(), "re");
  if (output == nullptr) return Failed("no shell to run " + command);
  std::string printed;
  std::array<char, 256> buffer{};
  while (fgets(buffer.data(), static_cast<int>(buffer.size()), output) != nullptr) {
    printed += buffer.data();
  }
  const int status = pclose(output);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Failed(fmt::format("`{}` failed: {}", command, printed));
}

/// Opens the namespace of the calling thread. unshare and setns move only the calling thread and
/// the threads that it starts later.
int OpenOwnNamespace() { return open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC); }

/// Makes a namespace that lives as long as the descriptor or a process in it.
int NewNamespace() {
  int made = -1;
  std::thread([&made] {
    if (unshare(CLONE_NEWNET) == 0) made = OpenOwnNamespace();
  }).join();
  return made;
}

}  // namespace

base::Result<std::unique_ptr<Network>> Network::Make() {
  if (auto tools = Run("ip -Version && nsenter --version"); !tools) {
    return tl::unexpected(tools.error());
  }
  std::unique_ptr<Network> network(new Network);
  network->home_ = OpenOwnNamespace();
  if (network->home_ < 0 || unshare(CLONE_NEWNET) != 0) {
    return Failed(
        fmt::format("no network namespace can be made (it takes root): {}", std::strerror(errno)));
  }
  if (auto built = network->Build(); !built) {
    setns(network->home_, CLONE_NEWNET);
    return tl::unexpected(built.error());
  }
  return network;
}

Network::~Network() {
  for (const int member : members_) {
    if (member >= 0) close(member);
  }
  if (home_ >= 0) close(home_);
}

base::Result<void> Network::Build() {
  std::string command = "ip link set lo up && ip link add hub type bridge && ip link set hub up";
  for (int i = 0; i <= kReplicas; ++i) {
    command += fmt::format(" && ip address add 10.77.{}.1/24 dev hub", i);
  }
  if (auto made = Run(command); !made) return made;
  for (int i = 0; i < kMembers; ++i) {
    if (auto added = AddMember(i); !added) return added;
  }
  return {};
}

base::Result<void> Network::AddMember(int member) {
  const int made = NewNamespace();
  if (made < 0) return Failed("no network namespace can be made for a member");
  members_[static_cast<size_t>(member)] = made;
  const std::string enter = Enter(member);
  // Without /sys, `ip netns` and `ip -n` do not work; nsenter does.
  std::string command = fmt::format(
      "ip link add port{0} type veth peer name eth0 netns /proc/{1}/fd/{2} && "
      "ip link set port{0} master hub up && {3} ip link set lo up && {3} ip link set eth0 up",
      member, getpid(), made, enter);
  for (int i = 0; i <= kReplicas; ++i) {
    command +=
        fmt::format(" && {} ip address add {}/24 dev eth0", enter, MemberHost(member, i - 1));
  }
  return Run(command);
}

std::string Network::MemberHost(int member) { return MemberHost(member, -1); }

std::string Network::MemberHost(int member, int replica) {
  return fmt::format("10.77.{}.{}", replica + 1, 10 + member);
}

std::vector<std::string> Network::Launcher(int member) const {
  return {"/usr/bin/nsenter",
          fmt::format("--net=/proc/{}/fd/{}", getpid(), members_[static_cast<size_t>(member)])};
}

std::string Network::Enter(int member) const {
  return fmt::format("nsenter --net=/proc/{}/fd/{}", getpid(),
                     members_[static_cast<size_t>(member)]);
}

void Network::CutPeer(int from, int to) {
  const std::string route = fmt::format("blackhole {}/32", MemberHost(to));
  Do(fmt::format("{} ip route replace {}", Enter(from), route),
     {.undo = fmt::format("{} ip route del {}", Enter(from), route)});
}

void Network::CutRequests(int replica, int member) {
  const std::string route = fmt::format("blackhole {}/32", MemberHost(member, replica));
  Do("ip route replace " + route, {.of_replica = true, .undo = "ip route del " + route});
}

void Network::CutReplies(int replica, int member) {
  const std::string route = fmt::format("blackhole 10.77.{}.1/32", replica + 1);
  Do(fmt::format("{} ip route replace {}", Enter(member), route),
     {.of_replica = true, .undo = fmt::format("{} ip route del {}", Enter(member), route)});
}

void Network::Unplug(int member) {
  Do(fmt::format("ip link set port{} down", member),
     {.undo = fmt::format("ip link set port{} up", member)});
}

void Network::Do(const std::string& command, Cut cut) {
  if (Run(command)) cuts_.push_back(std::move(cut));
}

void Network::HealReplicas() { Undo(/*all=*/false); }

void Network::Heal() { Undo(/*all=*/true); }

void Network::Undo(bool all) {
  std::erase_if(cuts_, [all](const Cut& cut) {
    const bool mine = all || cut.of_replica;
    if (mine) Run(cut.undo);
    return mine;
  });
}

}  // namespace berth::chaos
