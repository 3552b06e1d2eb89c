// The settings of `berth serve` from flags or a configuration file, and the checks before anything
// is opened. Names, formats and error texts are kube-apiserver's if it has them.
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
  std::string data_dir = {};  // Empty means DefaultDataDir().
  std::string bind_address = "127.0.0.1";
  std::string advertise_address = {};  // Empty means the one that AdvertisedAddress finds.
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
  /// Whether these two were given, if only as what they are by default.
  bool cluster_ip_range_given = false;
  bool node_port_range_given = false;
  std::string feature_gates = {};
  std::string audit_log_path = {};  // Empty means in the data directory, "none" no audit log.
  int64_t audit_log_maxsize = 100;  // MiB
  int64_t audit_log_maxbackup = 5;
  int64_t max_requests_inflight = 400;
  int64_t max_mutating_requests_inflight = 200;
  int64_t auditor_interval = 5;  // Seconds. 0 means that passes run only if they are asked for.
  int64_t history_bytes = int64_t{256} << 20;
};

/// The settings that need parsing.
struct ServeSettings {
  std::string data_dir;
  std::vector<ip::Cidr> service_ranges;
  ip::PortRange node_ports{30000, 32767};
  std::map<std::string, bool> gates;
};
base::Result<ServeSettings> CheckArguments(const ServeArguments& arguments);

/// Parses `--service-cluster-ip-range`: one CIDR, or one of each family.
base::Result<std::vector<ip::Cidr>> ParseServiceRanges(const std::string& text);

/// Returns "$XDG_DATA_HOME/berth" or "~/.local/share/berth".
base::Result<std::string> DefaultDataDir();

/// Parses the whole number that a flag is set to.
base::Result<int64_t> ParseFlagInt(std::string_view flag, std::string_view text);

/// Parses `A=true,B=false`. Returns all gates, with the defaults for those that are not named. The
/// error names the known gates.
base::Result<std::map<std::string, bool>> ParseGates(const std::string& text);

}  // namespace berth::cli
