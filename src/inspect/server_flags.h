// The flags of a kube-apiserver that decide which ranges a cluster has. No API object has the range
// of node ports, so it is looked for in other places. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codec/value.h"

namespace berth::inspect {

struct ServerFlags {
  std::string node_port_range = {};             ///< "30000-32767"; empty if it is not said.
  std::vector<std::string> service_cidrs = {};  ///< Empty if they are not said.
  /// All flags that are set were seen, and none of them sets the range of node ports. So it is
  /// Kubernetes' default.
  bool default_ports = false;

  bool IsEmpty() const { return node_port_range.empty() && service_cidrs.empty(); }
  bool operator==(const ServerFlags&) const = default;
};

/// Reads the answer of `/flagz` (kind Flagz, Kubernetes 1.36 and later). It is the view of the one
/// server that answered.
ServerFlags ReadFlagz(const codec::Value& flagz);

/// Reads kubeadm's ClusterConfiguration from the ConfigMap kube-system/kubeadm-config. A flag that
/// is not set there has its default.
ServerFlags ReadKubeadmConfig(const codec::Value& config_map);

/// Reads the arguments of API server Pods, given a list of Pods. Returns the flags of the first one
/// that sets the range of node ports or, if none does, of the first one that has any. A shell's
/// script is read word by word.
ServerFlags ReadServerPods(const codec::Value& pod_list);

}  // namespace berth::inspect
