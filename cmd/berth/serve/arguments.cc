#include "berth/serve/arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include "allocation/bitmaps/bitmap_ranges.h"
#include "base/go_text.h"
#include "berth/serve/advertise.h"
#include "rules/address_text.h"

namespace berth::cli {
namespace {

using base::Reason;

/// All feature gates with their defaults.
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

std::optional<bool> ParseBool(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "true", "TRUE", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "false", "FALSE", "False"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, text) != kFalse.end()) return false;
  return std::nullopt;
}

tl::unexpected<base::Error> Wrong(std::string message) {
  return base::Fail(Reason::kInvalid, std::move(message));
}

/// Returns the message of kube-apiserver's flag library for a value that it cannot parse.
tl::unexpected<base::Error> InvalidArgument(std::string_view flag, std::string_view value,
                                            std::string_view why) {
  return Wrong(
      fmt::format("invalid argument {} for \"{}\" flag: {}", base::GoQuoted(value), flag, why));
}

base::Result<std::vector<ip::Cidr>> ParseRanges(const std::string& text) {
  constexpr int kLeastHostBits = 3;
  std::vector<ip::Cidr> ranges;
  for (const std::string_view part : SplitCommas(text)) {
    const auto range = ip::ParseCidrLoose(part);
    if (!range) {
      return Wrong(fmt::format(
          "service-cluster-ip-range[{}] is not a valid cidr: {}, which should look like "
          "10.96.0.0/16 or fd00:10:96::/112",
          ranges.size(), base::GoQuoted(part)));
    }
    ranges.push_back(range->cidr);
  }
  if (ranges.empty()) {
    return Wrong("--service-cluster-ip-range must contain at least one valid cidr");
  }
  if (ranges.size() > 2) {
    return Wrong("--service-cluster-ip-range must not contain more than two entries");
  }
  if (ranges.size() == 2 && ranges[0].family() == ranges[1].family()) {
    return Wrong(
        "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP "
        "family");
  }
  if (ranges[0].host_bits() < kLeastHostBits) {
    return Wrong(
        "--service-cluster-ip-range: the service cluster IP range must be at least 8 IP addresses");
  }
  return ranges;
}

/// Checks that the ranges fit into bitmaps, if these are used.
base::Result<void> CheckBitmaps(const ServeSettings& settings) {
  if (settings.gates.at("ClusterIPAllocatorAPI")) return {};
  std::string flag = "--service-cluster-ip-range";
  for (const ip::Cidr& range : settings.service_ranges) {
    if (auto error = allocation::CheckBitmapRange(range, flag))
      return tl::unexpected(*std::move(error));
    flag = "--service-cluster-ip-range[1]";
  }
  return {};
}

base::Result<void> CheckNumbers(const ServeArguments& arguments) {
  if (arguments.secure_port < 0 || arguments.secure_port > 65535) {
    return Wrong(fmt::format("--secure-port {} must be between 0 and 65535, inclusive",
                             arguments.secure_port));
  }
  if (arguments.audit_log_maxsize < 1) {
    return Wrong(
        fmt::format("--audit-log-maxsize {} must be at least 1", arguments.audit_log_maxsize));
  }
  if (arguments.audit_log_maxbackup < 0) {
    return Wrong(fmt::format("--audit-log-maxbackup {} can't be a negative number",
                             arguments.audit_log_maxbackup));
  }
  if (arguments.max_requests_inflight < 0) {
    return Wrong("--max-requests-inflight can not be negative value");
  }
  if (arguments.max_mutating_requests_inflight < 0) {
    return Wrong("--max-mutating-requests-inflight can not be negative value");
  }
  constexpr int64_t kMostAuditorInterval = 86'400;
  constexpr int64_t kLeastHistory = int64_t{1} << 20;
  if (arguments.auditor_interval < 0 || arguments.auditor_interval > kMostAuditorInterval) {
    return Wrong("--auditor-interval must be between 0 and 86400 (a day)");
  }
  if (arguments.history_bytes < kLeastHistory) {
    return Wrong("--history-bytes must be at least 1048576 (1 MiB)");
  }
  return {};
}

base::Result<void> CheckFiles(const ServeArguments& arguments) {
  if (arguments.tls_cert_file.empty() != arguments.tls_private_key_file.empty()) {
    return Wrong("--tls-cert-file and --tls-private-key-file must be given together");
  }
  if (arguments.etcd_certfile.empty() != arguments.etcd_keyfile.empty()) {
    return Wrong("--etcd-certfile and --etcd-keyfile must be given together");
  }
  return {};
}

/// Returns an absolute path without a slash at its end. The user may change directory later.
base::Result<std::string> AbsoluteDataDir(const ServeArguments& arguments) {
  auto given = arguments.data_dir.empty() ? DefaultDataDir() : arguments.data_dir;
  if (!given) return given;
  std::error_code error;
  std::string path = std::filesystem::absolute(*given, error).lexically_normal().string();
  if (error) return Wrong(fmt::format("--data-dir: {}: {}", *given, error.message()));
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

/// Checks --advertise-address, which may be left out.
base::Result<void> CheckAdvertised(const std::string& text) {
  if (text.empty()) return {};
  const auto addr = ip::ParseAddr(text, ip::Strictness::kLegacyField);
  if (!addr) {
    return InvalidArgument("--advertise-address", text,
                           "failed to parse IP: " + base::GoQuoted(text));
  }
  if (IsReachable(*addr)) return {};
  return InvalidArgument(
      "--advertise-address", text,
      "other machines cannot reach it: " + rules::SpecialAddressProblem(addr->ToString()));
}

}  // namespace

base::Result<std::string> DefaultDataDir() {
  if (const char* set = std::getenv("XDG_DATA_HOME"); set != nullptr && *set == '/') {
    return std::string(set) + "/berth";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::string(home) + "/.local/share/berth";
  }
  return Wrong("there is no home directory for the data; choose a directory with --data-dir");
}

base::Result<int64_t> ParseFlagInt(std::string_view flag, std::string_view text) {
  int64_t value = 0;
  const char* const first = text.data();
  const char* const last = first + text.size();
  const auto [end, error] = std::from_chars(first, last, value);
  if (error == std::errc() && end == last) return value;
  const bool large = error == std::errc::result_out_of_range;
  return InvalidArgument(flag, text,
                         fmt::format("strconv.ParseInt: parsing {}: {}", base::GoQuoted(text),
                                     large ? "value out of range" : "invalid syntax"));
}

base::Result<std::map<std::string, bool>> ParseGates(const std::string& text) {
  std::map<std::string, bool> gates = KnownGates();
  const auto wrong = [&text](const std::string& why) {
    return InvalidArgument("--feature-gates", text, why);
  };
  for (const std::string_view part : SplitCommas(text)) {
    const size_t equals = std::min(part.find('='), part.size());
    const std::string name(part.substr(0, equals));
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    if (equals == part.size()) return wrong("missing bool value for " + name);
    const auto gate = gates.find(name);
    if (gate == gates.end()) {
      std::string known;
      for (const auto& [each, on] : gates) known += (known.empty() ? "" : ", ") + each;
      return wrong(
          fmt::format("unrecognized feature gate: {}; the known gates are {}", name, known));
    }
    const auto on = ParseBool(value);
    if (!on) {
      return wrong(
          fmt::format("invalid value of {}={}, err: strconv.ParseBool: parsing {}: invalid syntax",
                      name, value, base::GoQuoted(value)));
    }
    gate->second = *on;
  }
  return gates;
}

base::Result<std::vector<ip::Cidr>> ParseServiceRanges(const std::string& text) {
  return ParseRanges(text);
}

base::Result<ServeSettings> CheckArguments(const ServeArguments& arguments) {
  ServeSettings settings;
  auto data_dir = AbsoluteDataDir(arguments);
  if (!data_dir) return tl::unexpected(std::move(data_dir.error()));
  settings.data_dir = *std::move(data_dir);
  if (!ip::ParseAddr(arguments.bind_address, ip::Strictness::kLegacyField)) {
    return InvalidArgument("--bind-address", arguments.bind_address,
                           "failed to parse IP: " + base::GoQuoted(arguments.bind_address));
  }
  if (auto fine = CheckAdvertised(arguments.advertise_address); !fine) {
    return tl::unexpected(std::move(fine.error()));
  }
  if (auto fine = CheckNumbers(arguments); !fine) return tl::unexpected(std::move(fine.error()));
  if (auto fine = CheckFiles(arguments); !fine) return tl::unexpected(std::move(fine.error()));
  auto ranges = ParseRanges(arguments.service_cluster_ip_range);
  if (!ranges) return tl::unexpected(std::move(ranges.error()));
  settings.service_ranges = *std::move(ranges);
  if (const std::string& text = arguments.service_node_port_range; !text.empty()) {
    const auto ports = ip::ParsePortRange(text);
    if (!ports) return InvalidArgument("--service-node-port-range", text, ports.error().message);
    settings.node_ports = *ports;
  }
  auto gates = ParseGates(arguments.feature_gates);
  if (!gates) return tl::unexpected(std::move(gates.error()));
  settings.gates = *std::move(gates);
  if (auto fine = CheckBitmaps(settings); !fine) return tl::unexpected(std::move(fine.error()));
  return settings;
}

}  // namespace berth::cli
