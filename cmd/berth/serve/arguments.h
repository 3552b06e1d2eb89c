// The settings of `berth serve`, as flags or a configuration file give them, and what is checked
// before anything is opened. Names, forms and error texts are kube-apiserver's where it has them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ip/addr.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::cli {

struct ServeArguments {
  std::string config = {};
  std::string data_dir = {};  // Empty: below the user's data directory.
  std::string bind_address = "127.0.0.1";
  int64_t secure_port = 6443;
  std::string tls_cert_file = {};
  std::string tls_private_key_file = {};
  std::string client_ca_file = {};
  std::string token_auth_file = {};
  std::vector<std::string> etcd_servers = {};
  std::string etcd_prefix = "/registry";
  std::string etcd_cafile = {};
  std::string etcd_certfile = {};
  std::string etcd_keyfile = {};
  std::string service_cluster_ip_range = "10.96.0.0/16";
  std::string service_node_port_range = "30000-32767";
  std::string feature_gates = {};
  std::string audit_log_path = {};  // Empty: in the data directory. "none": no audit log.
  int64_t audit_log_maxsize = 100;  // MiB
  int64_t audit_log_maxbackup = 5;
  int64_t max_requests_inflight = 400;
  int64_t max_mutating_requests_inflight = 200;
  int64_t history_bytes = int64_t{256} << 20;
};

/// The same, read.
struct ServeSettings {
  std::string data_dir;
  std::vector<ip::Cidr> service_ranges;
  ip::PortRange node_ports{30000, 32767};
  std::map<std::string, bool> gates;
};
base::Result<ServeSettings> CheckArguments(const ServeArguments& arguments);

/// "$XDG_DATA_HOME/berth", "~/.local/share/berth".
base::Result<std::string> DefaultDataDir();

/// The whole number that a flag is set to.
base::Result<int64_t> ParseFlagInt(std::string_view flag, std::string_view text);

/// `A=true,B=false` over the gates there are. The error names the known ones.
base::Result<std::map<std::string, bool>> ParseGates(const std::string& text);

}  // namespace berth::cli
