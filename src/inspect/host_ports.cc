#include "inspect/host_ports.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/go_text.h"
#include "ip/port_range.h"

namespace berth::inspect {
namespace {

constexpr std::string_view kUsualHostPorts = R"(
22 sshd
111 rpcbind
179 BGP (Calico or MetalLB)
2379-2380 etcd
4240 Cilium
4244 Cilium
4789 VXLAN (Calico)
5473 Calico Typha
6443 kube-apiserver
6783-6784 Weave Net
7472-7473 MetalLB
7946 MetalLB
8472 VXLAN (Flannel or Cilium)
9099 Calico
9100 node exporter
9345 RKE2 server
9878-9879 Cilium
10248 kubelet
10249 kube-proxy
10250 kubelet
10255 kubelet
10256 kube-proxy
10257 kube-controller-manager
10258 cloud-controller-manager
10259 kube-scheduler
16443 MicroK8s kube-apiserver
19001 MicroK8s
25000 MicroK8s
51820-51821 WireGuard
)";

base::Result<void> AddEntry(std::string_view entry, HostPorts& into) {
  const size_t blank = std::min(entry.find_first_of(" \t"), entry.size());
  const auto ports = ip::ParsePortRange(entry.substr(0, blank));
  if (!ports || ports->first() == 0) {
    return base::Fail(base::Reason::kInvalid, fmt::format("{} is not a port or a range of ports",
                                                          base::GoQuoted(entry.substr(0, blank))));
  }
  const std::string_view name = base::GoTrimSpace(entry.substr(blank));
  for (uint32_t port = ports->first(); port <= ports->last(); ++port) {
    into[static_cast<uint16_t>(port)] = name.empty() ? "a program of the nodes" : name;
  }
  return {};
}

}  // namespace

HostPorts UsualHostPorts() {
  HostPorts ports;
  static_cast<void>(AddHostPorts(kUsualHostPorts, ports));  // The text is good.
  return ports;
}

base::Result<void> AddHostPorts(std::string_view list, HostPorts& into) {
  while (!list.empty()) {
    std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(line.size() + 1, list.size()));
    line = line.substr(0, line.find('#'));
    while (!line.empty()) {
      const std::string_view part = line.substr(0, line.find(','));
      line.remove_prefix(std::min(part.size() + 1, line.size()));
      const std::string_view entry = base::GoTrimSpace(part);
      if (entry.empty()) continue;
      if (auto added = AddEntry(entry, into); !added) return added;
    }
  }
  return {};
}

}  // namespace berth::inspect
