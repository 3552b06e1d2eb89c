#include "rules/endpoint_slice.h"

#include <fmt/format.h>

#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "ip/addr.h"
#include "rules/address_text.h"
#include "rules/endpoint_port.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

constexpr size_t kMostEndpoints = 1000;
constexpr size_t kMostAddresses = 100;
constexpr size_t kMostPorts = 20000;
constexpr size_t kMostTopologyLabels = 16;
constexpr size_t kMostHints = 8;

constexpr std::string_view kHostLabel = "kubernetes.io/hostname";
constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
constexpr std::string_view kSliceManagedBy = "endpointslice.kubernetes.io/managed-by";

std::string JoinedProblems(const Problems& problems) {
  return fmt::format("{}", fmt::join(problems, ","));
}

void RequireFullName(FieldErrors& errors, const Path& path, std::string_view name) {
  if (name.empty()) return errors.Required(path);
  if (name.ends_with('.')) name.remove_suffix(1);
  if (const Problems problems = Dns1123SubdomainProblems(name); !problems.empty()) {
    return errors.Invalid(path, name, JoinedProblems(problems));
  }
  if (name.find('.') == std::string_view::npos) {
    return errors.Invalid(path, name,
                          "should be a domain with at least two segments separated by dots");
  }
  for (std::string_view rest = name; !rest.empty();) {
    const size_t end = std::min(rest.find('.'), rest.size());
    const std::string_view label = rest.substr(0, end);
    if (const Problems problems = Dns1123LabelProblems(label); !problems.empty()) {
      return errors.Invalid(path, label, JoinedProblems(problems));
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void RequireAddress(FieldErrors& errors, const Path& list, size_t index, std::string_view text,
                    ip::Family family) {
  // IPv4 addresses have only one form.
  const bool v6 = family == ip::Family::kV6;
  const auto parsed =
      ip::ParseAddr(text, v6 ? ip::Strictness::kCanonical : ip::Strictness::kLegacyField);
  if (!parsed) return errors.Invalid(list.Index(index), text, parsed.error().message);
  if (parsed->family() != family) {
    // The path is that of the list, as in Kubernetes.
    errors.Invalid(list, text, v6 ? "must be an IPv6 address" : "must be an IPv4 address");
  }
  RequireEndpointAddress(errors, list.Index(index), text);
}

void ValidateAddresses(FieldErrors& errors, const Path& path, const codec::Array& addresses,
                       std::string_view type) {
  if (addresses.empty()) {
    errors.Required(path, "must contain at least 1 address");
  } else if (addresses.size() > kMostAddresses) {
    errors.TooMany(path, addresses.size(), kMostAddresses);
  }
  for (size_t i = 0; i < addresses.size(); ++i) {
    const std::string_view text = Text(&addresses[i]);
    if (type == "IPv4") RequireAddress(errors, path, i, text, ip::Family::kV4);
    if (type == "IPv6") RequireAddress(errors, path, i, text, ip::Family::kV6);
    if (type == "FQDN") RequireFullName(errors, path.Index(i), text);
  }
}

/// Checks the names of zones or nodes. Returns false if there are so many that no more is checked.
bool ValidateHintNames(FieldErrors& errors, const Path& path, const codec::Array& hints,
                       Problems (*problems_of)(std::string_view)) {
  if (hints.size() > kMostHints) {
    errors.TooMany(path, hints.size(), kMostHints);
    return false;
  }
  std::set<std::string_view> seen;
  for (size_t i = 0; i < hints.size(); ++i) {
    const Path at = path.Index(i).Child("name");
    const std::string_view name = StringAt(hints[i], "name");
    if (!seen.insert(name).second) errors.Duplicate(at, name);
    errors.InvalidEach(at, name, problems_of(name));
  }
  return true;
}

Problems NodeNameProblems(std::string_view name) { return NameIsDnsSubdomain(name, false); }

void ValidateTopology(FieldErrors& errors, const Path& path, const codec::Object& topology) {
  if (topology.size() > kMostTopologyLabels) {
    errors.TooMany(path, topology.size(), kMostTopologyLabels);
  }
  errors.Append(ValidateLabels(topology, path));
  if (topology.Find(kZoneLabel) != nullptr) {
    errors.Internal(path.Key(kZoneLabel), "reserved key was not removed in conversion");
  }
}

void ValidateEndpoint(FieldErrors& errors, const Path& path, const codec::Value& endpoint,
                      std::string_view type) {
  ValidateAddresses(errors, path.Child("addresses"), ArrayAt(endpoint, "addresses"), type);
  if (const codec::Value* node = FindAt(endpoint, "nodeName"); node != nullptr) {
    errors.InvalidEach(path.Child("nodeName"), Text(node), NodeNameProblems(Text(node)));
  }
  ValidateTopology(errors, path.Child("deprecatedTopology"),
                   ObjectAt(endpoint, "deprecatedTopology"));
  if (const codec::Value* name = FindAt(endpoint, "hostname"); name != nullptr) {
    errors.InvalidEach(path.Child("hostname"), Text(name), Dns1123LabelProblems(Text(name)));
  }
  const Path hints = path.Child("hints");
  const bool go_on = ValidateHintNames(errors, hints.Child("forZones"),
                                       ArrayAt(endpoint, "hints", "forZones"), LabelValueProblems);
  if (go_on) {
    ValidateHintNames(errors, hints.Child("forNodes"), ArrayAt(endpoint, "hints", "forNodes"),
                      NodeNameProblems);
  }
}

FieldErrors ValidateEndpointList(const codec::Value& slice) {
  FieldErrors errors;
  const Path path("endpoints");
  const codec::Array& endpoints = ArrayAt(slice, "endpoints");
  if (endpoints.size() > kMostEndpoints) {
    errors.TooMany(path, endpoints.size(), kMostEndpoints);
    return errors;
  }
  const std::string_view type = StringAt(slice, "addressType");
  for (size_t i = 0; i < endpoints.size(); ++i) {
    ValidateEndpoint(errors, path.Index(i), endpoints[i], type);
  }
  return errors;
}

void ValidatePorts(FieldErrors& errors, const codec::Array& ports) {
  const Path path("ports");
  if (ports.size() > kMostPorts) return errors.TooMany(path, ports.size(), kMostPorts);
  std::set<std::string_view> names;
  for (size_t i = 0; i < ports.size(); ++i) {
    const Path at = path.Index(i);
    const std::string_view name = StringAt(ports[i], "name");
    if (!name.empty()) errors.InvalidEach(at.Child("name"), name, Dns1123LabelProblems(name));
    if (!names.insert(name).second) errors.Duplicate(at.Child("name"), name);
    RequireEndpointProtocols(errors, at, ports[i]);
  }
}

FieldErrors ValidateEndpointSlice(const codec::Value& slice, const codec::Value* old) {
  FieldErrors errors =
      ValidateMetadata(slice, Scope::kNamespaced, NameIsDnsSubdomain, FinalizerRule::kCore);
  const std::string_view type = StringAt(slice, "addressType");
  if (type.empty()) {
    errors.Required(Path("addressType"));
  } else if (type != "IPv4" && type != "IPv6" && type != "FQDN") {
    errors.NotSupported(Path("addressType"), type, {"FQDN", "IPv4", "IPv6"});
  }
  ValidatePorts(errors, ArrayAt(slice, "ports"));
  const bool unchanged =
      old != nullptr && Same(FindAt(slice, "endpoints"), FindAt(*old, "endpoints"));
  if (!unchanged) errors.Append(ValidateEndpointList(slice));
  return errors;
}

void ForEachEndpoint(codec::Value& slice, const std::function<void(codec::Value&)>& f) {
  codec::Value* endpoints = FindAt(slice, "endpoints");
  if (endpoints == nullptr || endpoints->AsArray() == nullptr) return;
  for (codec::Value& endpoint : *endpoints->AsArray()) f(endpoint);
}

/// Removes the topology of every endpoint. `known` has the node names that may stay as nodeName.
void DropTopology(codec::Value& slice, const std::set<std::string>& known) {
  ForEachEndpoint(slice, [&known](codec::Value& endpoint) {
    const std::string node(StringAt(endpoint, "deprecatedTopology", kHostLabel));
    EraseAt(endpoint, {"deprecatedTopology"});
    if (HasAt(endpoint, "nodeName") || !known.contains(node)) return;
    if (NodeNameProblems(node).empty()) endpoint.Set("nodeName", node);
  });
}

/// Returns whether the two differ in anything but their metadata, or in their labels.
bool Differ(const codec::Value& slice, const codec::Value& old) {
  for (const std::string_view field : {"addressType", "endpoints", "ports"}) {
    if (!Same(FindAt(slice, field), FindAt(old, field))) return true;
  }
  return ObjectAt(slice, "metadata", "labels") != ObjectAt(old, "metadata", "labels");
}

}  // namespace

void DefaultEndpointSlice(codec::Value& slice) {
  codec::Value* ports = FindAt(slice, "ports");
  if (ports == nullptr || ports->AsArray() == nullptr) return;
  for (codec::Value& port : *ports->AsArray()) {
    if (!HasAt(port, "name")) port.Set("name", "");
    if (!HasAt(port, "protocol")) port.Set("protocol", "TCP");
  }
}

void PrepareEndpointSliceCreate(codec::Value& slice) {
  SetAt(slice, {"metadata", "generation"}, 1);
  DropTopology(slice, {});
}

void PrepareEndpointSliceUpdate(codec::Value& slice, const codec::Value& old) {
  if (Differ(slice, old)) {
    SetAt(slice, {"metadata", "generation"}, IntAt(old, "metadata", "generation") + 1);
  }
  if (Same(FindAt(slice, "endpoints"), FindAt(old, "endpoints"))) return;
  std::set<std::string> known;
  for (const codec::Value& endpoint : ArrayAt(old, "endpoints")) {
    const std::string_view node = StringAt(endpoint, "deprecatedTopology", kHostLabel);
    if (!node.empty()) known.emplace(node);
  }
  DropTopology(slice, known);
}

FieldErrors ValidateEndpointSliceCreate(const codec::Value& slice) {
  return ValidateEndpointSlice(slice, nullptr);
}

FieldErrors ValidateEndpointSliceUpdate(const codec::Value& slice, const codec::Value& old) {
  FieldErrors errors = ValidateEndpointSlice(slice, &old);
  const std::string_view type = StringAt(slice, "addressType");
  if (type != StringAt(old, "addressType")) {
    errors.Invalid(Path("addressType"), type, "field is immutable");
  }
  return errors;
}

std::vector<std::string> EndpointSliceWarnings(const codec::Value& slice) {
  std::vector<std::string> warnings;
  const std::string_view manager = StringAt(slice, "metadata", "labels", kSliceManagedBy);
  if (manager == "endpointslice-controller.k8s.io" ||
      manager == "endpointslicemirroring-controller.k8s.io") {
    return warnings;
  }
  const codec::Array& endpoints = ArrayAt(slice, "endpoints");
  for (size_t i = 0; i < endpoints.size(); ++i) {
    const codec::Array& addresses = ArrayAt(endpoints[i], "addresses");
    for (size_t at = 0; at < addresses.size(); ++at) {
      WarnOfAddress(warnings, Path("endpoints").Index(i).Child("addresses").Index(at),
                    Text(&addresses[at]));
    }
  }
  return warnings;
}

std::vector<std::string> NewEndpointSliceWarnings(const codec::Value& slice) {
  if (StringAt(slice, "addressType") != "FQDN") return {};
  return {"spec.addressType: FQDN endpoints are deprecated"};
}

}  // namespace berth::rules
