#include "rules/node_port.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "rules/metadata.h"
#include "rules/reservation.h"
#include "rules/service_claims.h"

namespace berth::rules {
namespace {

constexpr std::string_view kPortRangeField = "nodePortRangeRef";
constexpr RangeTarget kPortRange{.group = "allocation.berth.io", .kind = "NodePortRange"};

/// No suffix is added to a generateName, so it must be a port too.
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

void DefaultNodePort(codec::Value& port) { FillRangeReference(port, kPortRangeField, kPortRange); }

void PrepareNodePortCreate(codec::Value& port) {
  SetAt(port, {"status"}, codec::Object{{"state", ReservedStateOf(port)}});
}

void PrepareNodePortUpdate(codec::Value& port, const codec::Value& old) {
  CopyAt(port, old, {"status"});
  // The range was chosen at creation, so that a manifest need not name it.
  if (!HasAt(port, "spec", kPortRangeField)) CopyAt(port, old, {"spec", kPortRangeField});
}

FieldErrors ValidateNodePortCreate(const codec::Value& port) {
  FieldErrors errors = ValidateMetadata(port, Scope::kCluster, NameIsPort, FinalizerRule::kAny);
  ValidateRangeReference(errors, port, kPortRangeField, kPortRange);
  ValidateReservation(errors, port);
  return errors;
}

FieldErrors ValidateNodePortUpdate(const codec::Value& port, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(port, old, FinalizerRule::kAny);
  const Path spec("spec");
  for (const std::string_view field :
       {kPortRangeField, std::string_view("reservedFor"), std::string_view("holdSeconds")}) {
    RequireUnchanged(errors, spec.Child(field), FindAt(port, "spec", field),
                     FindAt(old, "spec", field));
  }
  return errors;
}

void DecorateNodePort(codec::Value& port) {
  if (HasAt(port, "status", "since")) return;
  if (const codec::Value* created = FindAt(port, "metadata", "creationTimestamp")) {
    SetAt(port, {"status", "since"}, codec::Value(*created));
  }
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

std::optional<base::WallTime> PortEnds(const codec::Value& port, std::string_view /*hidden*/) {
  const std::string_view until = codec::StringAt(port, "status", "until");
  if (until.empty()) return std::nullopt;
  return codec::ParseTime(until);
}

}  // namespace berth::rules
