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

/// Adds the words of an argument, which may be a shell's script.
void AddWords(std::string_view argument, std::vector<std::string_view>& words) {
  constexpr std::string_view kBlanks = " \t\r\n\\\"'";
  for (;;) {
    const size_t begin = argument.find_first_not_of(kBlanks);
    if (begin == std::string_view::npos) return;
    argument.remove_prefix(begin);
    const size_t end = argument.find_first_of(kBlanks);
    words.push_back(argument.substr(0, end));
    if (end == std::string_view::npos) return;
    argument.remove_prefix(end);
  }
}

/// Reads words such as "--service-node-port-range=30000-32767", or the same as two words.
ServerFlags ReadWords(const std::vector<std::string_view>& words) {
  ServerFlags flags;
  bool is_server = false;
  for (size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--")) continue;
    const size_t equals = words[i].find('=');
    const std::string_view name = words[i].substr(0, equals).substr(2);
    // A value in quotes is the next word.
    const bool has_value = equals < words[i].size() - 1;
    // An API server does not start without this flag.
    is_server = is_server || name == "etcd-servers";
    if (has_value) {
      SetFlag(flags, name, words[i].substr(equals + 1));
    } else if (i + 1 < words.size()) {
      SetFlag(flags, name, words[i + 1]);
    }
  }
  flags.default_ports = is_server && flags.node_port_range.empty();
  return flags;
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
  ServerFlags found;
  for (const Value& pod : codec::ArrayAt(pod_list, "items")) {
    std::vector<std::string_view> words;
    for (const Value& container : codec::ArrayAt(pod, "spec", "containers")) {
      for (const std::string_view list : {"command", "args"}) {
        for (const Value& argument : codec::ArrayAt(container, list)) {
          AddWords(codec::Text(&argument), words);
        }
      }
    }
    ServerFlags flags = ReadWords(words);
    if (!flags.node_port_range.empty()) return flags;
    flags.default_ports = flags.default_ports || found.default_ports;
    if (found.IsEmpty()) {
      found = std::move(flags);
    } else {
      found.default_ports = flags.default_ports;
    }
  }
  return found;
}

}  // namespace berth::inspect
