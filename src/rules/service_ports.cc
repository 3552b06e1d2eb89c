#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "rules/names.h"
#include "rules/service.h"
#include "rules/service_checks.h"

namespace berth::rules {
namespace {

/// Returns whether further errors would be kept. A hostile list can be long.
bool HasRoom(const FieldErrors& errors) { return errors.size() < kMostFieldErrors; }

void CheckNumber(FieldErrors& errors, const Path& path, int64_t number) {
  for (const std::string& problem : PortNumberProblems(number)) {
    errors.Invalid(path, number, problem);
  }
}

void CheckTarget(FieldErrors& errors, const codec::Value& port, const Path& path) {
  const codec::Value* target = FindAt(port, "targetPort");
  if (target != nullptr && target->AsString() != nullptr) {
    errors.InvalidEach(path, Text(target), PortNameProblems(Text(target)));
  } else {
    CheckNumber(errors, path, IntAt(port, "targetPort"));
  }
}

void CheckProtocol(FieldErrors& errors, const codec::Value& port, const Path& path) {
  const std::string_view protocol = StringAt(port, "protocol");
  if (protocol.empty()) {
    errors.Required(path);
  } else if (protocol != "TCP" && protocol != "UDP" && protocol != "SCTP") {
    errors.NotSupported(path, protocol, {"SCTP", "TCP", "UDP"});
  }
}

}  // namespace

void CheckPorts(FieldErrors& errors, const codec::Value& service) {
  const codec::Array& ports = ArrayAt(service, "spec", "ports");
  std::set<std::string_view> names;
  for (size_t i = 0; i < ports.size() && HasRoom(errors); ++i) {
    const Path path = Path("spec.ports").Index(i);
    const std::string_view name = StringAt(ports[i], "name");
    if (!name.empty()) {
      errors.InvalidEach(path.Child("name"), name, Dns1123LabelProblems(name));
      if (!names.insert(name).second) errors.Duplicate(path.Child("name"), name);
    } else if (ports.size() > 1) {
      errors.Required(path.Child("name"));
    }
    CheckNumber(errors, path.Child("port"), IntAt(ports[i], "port"));
    CheckProtocol(errors, ports[i], path.Child("protocol"));
    CheckTarget(errors, ports[i], path.Child("targetPort"));
    if (const codec::Value* app = FindAt(ports[i], "appProtocol"); app != nullptr) {
      errors.InvalidEach(path.Child("appProtocol"), Text(app), QualifiedNameProblems(Text(app)));
    }
  }
}

void CheckPortsTogether(FieldErrors& errors, const codec::Value& service) {
  const codec::Array& ports = ArrayAt(service, "spec", "ports");
  const Path path("spec.ports");
  using Key = std::pair<std::string_view, int64_t>;
  if (IsClusterIpType(service)) {
    for (size_t i = 0; i < ports.size() && HasRoom(errors); ++i) {
      if (IntAt(ports[i], "nodePort") == 0) continue;
      errors.Forbidden(path.Index(i).Child("nodePort"),
                       "may not be used when `type` is 'ClusterIP'");
    }
  }
  std::set<Key> node_ports;
  for (size_t i = 0; i < ports.size() && HasRoom(errors); ++i) {
    const int64_t node_port = IntAt(ports[i], "nodePort");
    if (node_port == 0) continue;
    if (!node_ports.emplace(StringAt(ports[i], "protocol"), node_port).second) {
      errors.Duplicate(path.Index(i).Child("nodePort"), node_port);
    }
  }
  std::set<Key> numbers;
  for (size_t i = 0; i < ports.size() && HasRoom(errors); ++i) {
    const Key key(StringAt(ports[i], "protocol"), IntAt(ports[i], "port"));
    if (numbers.insert(key).second) continue;
    // Prints the fields that Kubernetes compares, as its struct has them.
    errors.Duplicate(path.Index(i), codec::Object{{"Name", ""},
                                                  {"Protocol", key.first},
                                                  {"AppProtocol", nullptr},
                                                  {"Port", key.second},
                                                  {"TargetPort", 0},
                                                  {"NodePort", 0}});
  }
}

}  // namespace berth::rules
