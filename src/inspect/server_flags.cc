#include "inspect/server_flags.h"

#include <string_view>
#include <utility>

#include "codec/read.h"
#include "codec/yaml_read.h"

namespace berth::inspect {
namespace {

using codec::StringAt;
using codec::Value;

constexpr std::string_view kPortRangeFlag = "service-node-port-range";
constexpr std::string_view kCidrFlag = "service-cluster-ip-range";

/// Splits a list at commas. Empty parts are left out.
std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (const auto part = text.substr(0, comma); !part.empty()) parts.emplace_back(part);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return parts;
}

void SetFlag(ServerFlags& flags, std::string_view name, std::string_view value) {
  if (name == kPortRangeFlag) flags.node_port_range = value;
  if (name == kCidrFlag) flags.service_cidrs = SplitList(value);
}

/// Reads an argument such as "--service-node-port-range=30000-32767".
void ReadArgument(ServerFlags& flags, std::string_view argument) {
  const size_t equals = argument.find('=');
  if (!argument.starts_with("--") || equals == std::string_view::npos) return;
  SetFlag(flags, argument.substr(2, equals - 2), argument.substr(equals + 1));
}

}  // namespace

ServerFlags ReadFlagz(const Value& flagz) {
  ServerFlags flags;
  for (const codec::Member& flag : codec::ObjectAt(flagz, "flags")) {
    SetFlag(flags, flag.key, codec::Text(&flag.value));
  }
  return flags;
}

ServerFlags ReadKubeadmConfig(const Value& config_map) {
  const auto parsed = codec::ParseYaml(StringAt(config_map, "data", "ClusterConfiguration"));
  if (!parsed) return {};
  ServerFlags flags{.service_cidrs =
                        SplitList(StringAt(parsed->value, "networking", "serviceSubnet"))};
  // Until v1beta3 the arguments are an object, and from v1beta4 on a list of names and values.
  for (const codec::Member& flag : codec::ObjectAt(parsed->value, "apiServer", "extraArgs")) {
    SetFlag(flags, flag.key, codec::Text(&flag.value));
  }
  for (const Value& flag : codec::ArrayAt(parsed->value, "apiServer", "extraArgs")) {
    SetFlag(flags, StringAt(flag, "name"), StringAt(flag, "value"));
  }
  return flags;
}

ServerFlags ReadServerPods(const Value& pod_list) {
  for (const Value& pod : codec::ArrayAt(pod_list, "items")) {
    ServerFlags flags;
    for (const Value& container : codec::ArrayAt(pod, "spec", "containers")) {
      for (const std::string_view list : {"command", "args"}) {
        for (const Value& argument : codec::ArrayAt(container, list)) {
          ReadArgument(flags, codec::Text(&argument));
        }
      }
    }
    if (!flags.IsEmpty()) return flags;
  }
  return {};
}

}  // namespace berth::inspect
