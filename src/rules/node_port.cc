#include "rules/node_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "codec/read.h"
#include "rules/metadata.h"
#include "rules/reservation.h"
#include "rules/service_claims.h"

namespace berth::rules {
namespace {

constexpr std::string_view kRangeField = "nodePortRangeRef";
constexpr RangeTarget kRange{.group = "allocation.berth.io", .kind = "NodePortRange"};

/// Nothing is added to a generateName, so that it must be a port as well.
Problems NameIsPort(std::string_view text, bool /*prefix*/) {
  if (ReadNodePortName(text)) return {};
  return {"must be the number of a port, from 1 to 65535 and without leading 0s, (e.g. 30080)"};
}

}  // namespace

std::optional<uint16_t> ReadNodePortName(std::string_view name) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), port);
  if (error != std::errc() || end != name.data() + name.size() || name.front() == '0') {
    return std::nullopt;
  }
  return port;
}

void DefaultNodePort(codec::Value& port) { FillRangeReference(port, kRangeField, kRange); }

void PrepareNodePortCreate(codec::Value& port) {
  SetAt(port, {"status"}, codec::Object{{"state", ReservedStateOf(port)}});
}

void PrepareNodePortUpdate(codec::Value& port, const codec::Value& old) {
  CopyAt(port, old, {"status"});
  // Chosen when it was made, so that a manifest need not name it.
  if (!HasAt(port, "spec", kRangeField)) CopyAt(port, old, {"spec", kRangeField});
}

FieldErrors ValidateNodePortCreate(const codec::Value& port) {
  FieldErrors errors = ValidateMetadata(port, Scope::kCluster, NameIsPort, FinalizerRule::kAny);
  ValidateRangeReference(errors, port, kRangeField, kRange);
  ValidateReservation(errors, port);
  return errors;
}

FieldErrors ValidateNodePortUpdate(const codec::Value& port, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(port, old, FinalizerRule::kAny);
  const Path spec("spec");
  for (const std::string_view field :
       {kRangeField, std::string_view("reservedFor"), std::string_view("holdSeconds")}) {
    RequireUnchanged(errors, spec.Child(field), FindAt(port, "spec", field),
                     FindAt(old, "spec", field));
  }
  return errors;
}

std::optional<ServiceName> ServiceOfNodePort(const codec::Value& port) {
  const ServiceName service{.name_space = StringAt(port, "status", "service", "namespace"),
                            .name = StringAt(port, "status", "service", "name")};
  if (service.name_space.empty() || service.name.empty()) return std::nullopt;
  return service;
}

bool HasNodePort(const codec::Value& service, std::string_view name) {
  const auto port = ReadNodePortName(name);
  if (!port) return false;
  const std::vector<uint16_t> held = HoldingsOf(service).ports;
  return std::ranges::find(held, *port) != held.end();
}

std::string NodePortHeldByService(const codec::Value& service) {
  return fmt::format(
      "the Service \"{}/{}\" has this port; to free the port, delete the Service or change it so "
      "that it has another one or none",
      StringAt(service, "metadata", "namespace"), StringAt(service, "metadata", "name"));
}

}  // namespace berth::rules
