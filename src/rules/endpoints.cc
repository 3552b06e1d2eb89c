#include "rules/endpoints.h"

#include <array>
#include <string_view>

#include "codec/read.h"
#include "ip/addr.h"
#include "rules/address_text.h"
#include "rules/endpoint_port.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

constexpr std::string_view kEndpointsManagedBy = "endpoints.kubernetes.io/managed-by";
constexpr std::string_view kEndpointsController = "endpoint-controller";
constexpr auto kAddressLists = std::to_array<std::string_view>({"addresses", "notReadyAddresses"});

void ValidateAddress(FieldErrors& errors, const Path& path, const codec::Value& address) {
  const std::string_view text = StringAt(address, "ip");
  if (const auto parsed = ip::ParseAddr(text, ip::Strictness::kLegacyField); !parsed) {
    errors.Invalid(path.Child("ip"), text, parsed.error().message);
  }
  if (const std::string_view name = StringAt(address, "hostname"); !name.empty()) {
    errors.InvalidEach(path.Child("hostname"), name, Dns1123LabelProblems(name));
  }
  if (const codec::Value* node = FindAt(address, "nodeName"); node != nullptr) {
    errors.InvalidEach(path.Child("nodeName"), Text(node), NameIsDnsSubdomain(Text(node), false));
  }
  RequireEndpointAddress(errors, path.Child("ip"), text);
}

void ValidatePort(FieldErrors& errors, const Path& path, const codec::Value& port,
                  bool needs_name) {
  const std::string_view name = StringAt(port, "name");
  if (!name.empty()) {
    errors.InvalidEach(path.Child("name"), name, Dns1123LabelProblems(name));
  } else if (needs_name) {
    errors.Required(path.Child("name"));
  }
  const int64_t number = IntAt(port, "port");
  for (const std::string& problem : PortNumberProblems(number)) {
    errors.Invalid(path.Child("port"), number, problem);
  }
  RequireEndpointProtocols(errors, path, port);
}

FieldErrors ValidateSubsets(const codec::Value& endpoints) {
  FieldErrors errors;
  const codec::Array& subsets = ArrayAt(endpoints, "subsets");
  for (size_t i = 0; i < subsets.size(); ++i) {
    const Path path = Path("subsets").Index(i);
    if (ArrayAt(subsets[i], "addresses").empty() &&
        ArrayAt(subsets[i], "notReadyAddresses").empty()) {
      errors.Required(path, "must specify `addresses` or `notReadyAddresses`");
    }
    for (const std::string_view list : kAddressLists) {
      const codec::Array& addresses = ArrayAt(subsets[i], list);
      for (size_t at = 0; at < addresses.size(); ++at) {
        ValidateAddress(errors, path.Child(list).Index(at), addresses[at]);
      }
    }
    const codec::Array& ports = ArrayAt(subsets[i], "ports");
    for (size_t at = 0; at < ports.size(); ++at) {
      ValidatePort(errors, path.Child("ports").Index(at), ports[at], ports.size() > 1);
    }
  }
  return errors;
}

FieldErrors ValidateEndpoints(const codec::Value& endpoints, const codec::Value* old) {
  FieldErrors errors =
      ValidateMetadata(endpoints, Scope::kNamespaced, NameIsDnsSubdomain, FinalizerRule::kCore);
  FieldErrors of_subsets = ValidateSubsets(endpoints);
  const bool unchanged =
      old != nullptr && Same(FindAt(endpoints, "subsets"), FindAt(*old, "subsets"));
  if (!unchanged) errors.Append(std::move(of_subsets));
  return errors;
}

}  // namespace

void DefaultEndpoints(codec::Value& endpoints) {
  codec::Value* subsets = FindAt(endpoints, "subsets");
  if (subsets == nullptr || subsets->AsArray() == nullptr) return;
  for (codec::Value& subset : *subsets->AsArray()) {
    codec::Value* ports = subset.Find("ports");
    if (ports == nullptr || ports->AsArray() == nullptr) continue;
    for (codec::Value& port : *ports->AsArray()) {
      if (StringAt(port, "protocol").empty()) port.Set("protocol", "TCP");
    }
  }
}

FieldErrors ValidateEndpointsCreate(const codec::Value& endpoints) {
  return ValidateEndpoints(endpoints, nullptr);
}

FieldErrors ValidateEndpointsUpdate(const codec::Value& endpoints, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(endpoints, old, FinalizerRule::kCore);
  errors.Append(ValidateEndpoints(endpoints, &old));
  return errors;
}

std::vector<std::string> EndpointsWarnings(const codec::Value& endpoints) {
  std::vector<std::string> warnings;
  if (StringAt(endpoints, "metadata", "labels", kEndpointsManagedBy) == kEndpointsController)
    return warnings;
  const codec::Array& subsets = ArrayAt(endpoints, "subsets");
  for (size_t i = 0; i < subsets.size(); ++i) {
    for (const std::string_view list : kAddressLists) {
      const codec::Array& addresses = ArrayAt(subsets[i], list);
      for (size_t at = 0; at < addresses.size(); ++at) {
        WarnOfAddress(warnings, Path("subsets").Index(i).Child(list).Index(at).Child("ip"),
                      StringAt(addresses[at], "ip"));
      }
    }
  }
  return warnings;
}

}  // namespace berth::rules
