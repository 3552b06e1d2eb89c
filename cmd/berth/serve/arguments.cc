#include "berth/serve/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace berth::cli {
namespace {

using base::Reason;

/// All gates there are, with what they are unless told otherwise.
const std::map<std::string, bool>& KnownGates() {
  static const std::map<std::string, bool> gates = {{"ClusterIPAllocatorAPI", true},
                                                    {"IPv6DualStack", true},
                                                    {"ServiceIPStaticSubrange", true},
                                                    {"ServiceLBNodePortControl", true},
                                                    {"ServiceNodePortStaticSubrange", true}};
  return gates;
}

std::vector<std::string_view> SplitCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

base::Result<std::vector<ip::Cidr>> ParseRanges(const std::string& text) {
  std::vector<ip::Cidr> ranges;
  for (const std::string_view part : SplitCommas(text)) {
    const auto range = ip::ParseCidrLoose(part);
    if (!range) {
      return base::Fail(Reason::kInvalid,
                        fmt::format("--service-cluster-ip-range: \"{}\" is not a CIDR, which looks "
                                    "like 10.96.0.0/16 or fd00:10:96::/112",
                                    part));
    }
    ranges.push_back(range->cidr);
  }
  if (ranges.empty()) {
    return base::Fail(Reason::kInvalid,
                      "--service-cluster-ip-range: must contain at least one valid "
                      "cidr");
  }
  if (ranges.size() > 2) {
    return base::Fail(Reason::kInvalid,
                      "--service-cluster-ip-range: must not contain more than two entries");
  }
  if (ranges.size() == 2 && ranges[0].family() == ranges[1].family()) {
    return base::Fail(Reason::kInvalid,
                      "--service-cluster-ip-range and --secondary-service-cluster-ip-range must be "
                      "of different IP family");
  }
  return ranges;
}

}  // namespace

base::Result<std::string> DefaultDataDir() {
  if (const char* set = std::getenv("XDG_DATA_HOME"); set != nullptr && *set == '/') {
    return std::string(set) + "/berth";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.local/share/berth";
  }
  return base::Fail(Reason::kInvalid,
                    "there is no home directory to keep data in; name a directory "
                    "with --data-dir");
}

base::Result<std::map<std::string, bool>> ParseGates(const std::string& text) {
  std::map<std::string, bool> gates = KnownGates();
  for (const std::string_view part : SplitCommas(text)) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string name(part.substr(0, equals));
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    if (equals == part.size()) {
      return base::Fail(Reason::kInvalid,
                        fmt::format("--feature-gates: missing bool value for {}", name));
    }
    const auto gate = gates.find(name);
    if (gate == gates.end()) {
      std::string known;
      for (const auto& [each, on] : gates) known += (known.empty() ? "" : ", ") + each;
      return base::Fail(
          Reason::kInvalid,
          fmt::format("--feature-gates: unrecognized feature gate: {}; there are {}", name, known));
    }
    if (value == "true" || value == "1" || value == "t" || value == "True" || value == "TRUE") {
      gate->second = true;
    } else if (value == "false" || value == "0" || value == "f" || value == "False" ||
               value == "FALSE") {
      gate->second = false;
    } else {
      return base::Fail(Reason::kInvalid,
                        fmt::format("--feature-gates: invalid value of {}={}, err: "
                                    "strconv.ParseBool: parsing \"{}\": invalid syntax",
                                    name, value, value));
    }
  }
  return gates;
}

base::Result<ServeSettings> CheckArguments(const ServeArguments& arguments) {
  ServeSettings settings;
  auto data_dir = arguments.data_dir.empty() ? DefaultDataDir() : arguments.data_dir;
  if (!data_dir) return tl::unexpected(std::move(data_dir.error()));
  settings.data_dir = *std::move(data_dir);
  while (settings.data_dir.size() > 1 && settings.data_dir.ends_with('/')) {
    settings.data_dir.pop_back();
  }
  if (arguments.secure_port < 0 || arguments.secure_port > 65535) {
    return base::Fail(Reason::kInvalid,
                      fmt::format("--secure-port {} must be between 0 and 65535, inclusive",
                                  arguments.secure_port));
  }
  if (arguments.tls_cert_file.empty() != arguments.tls_private_key_file.empty()) {
    return base::Fail(Reason::kInvalid,
                      "--tls-cert-file and --tls-private-key-file must be given together");
  }
  auto ranges = ParseRanges(arguments.service_cluster_ip_range);
  if (!ranges) return tl::unexpected(std::move(ranges.error()));
  settings.service_ranges = *std::move(ranges);
  if (!arguments.service_node_port_range.empty()) {
    const auto ports = ip::ParsePortRange(arguments.service_node_port_range);
    if (!ports) {
      return base::Fail(Reason::kInvalid, "--service-node-port-range: " + ports.error().message);
    }
    settings.node_ports = *ports;
  }
  auto gates = ParseGates(arguments.feature_gates);
  if (!gates) return tl::unexpected(std::move(gates.error()));
  settings.gates = *std::move(gates);
  if (arguments.audit_log_maxsize < 1 || arguments.audit_log_maxbackup < 0) {
    return base::Fail(
        Reason::kInvalid,
        "--audit-log-maxsize must be at least 1 and --audit-log-maxbackup not below 0");
  }
  if (arguments.max_requests_inflight < 0 || arguments.max_mutating_requests_inflight < 0) {
    return base::Fail(Reason::kInvalid,
                      "--max-requests-inflight and --max-mutating-requests-inflight can not be "
                      "negative value");
  }
  constexpr int64_t kLeastHistory = int64_t{1} << 20;
  if (arguments.history_bytes < kLeastHistory) {
    return base::Fail(Reason::kInvalid, "--history-bytes must be at least 1048576 (1 MiB)");
  }
  return settings;
}

}  // namespace berth::cli
