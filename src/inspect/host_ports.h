// Ports on which programs of a node listen, so that a node port must not have the same number.
// Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::inspect {

/// The programs by their port.
using HostPorts = std::map<uint16_t, std::string>;

/// Returns the well-known ports of Kubernetes nodes: kubelet, kube-proxy, etcd, network plugins.
HostPorts UsualHostPorts();

/// Adds the ports of a list. Entries are separated by commas or line ends. Each is a port or a
/// range of ports, and optionally the name of the program after a blank: "6443
/// kube-apiserver,9000-9010". A '#' begins a comment. Fails with kInvalid, and names the entry, if
/// one cannot be read.
base::Result<void> AddHostPorts(std::string_view list, HostPorts& into);

}  // namespace berth::inspect
