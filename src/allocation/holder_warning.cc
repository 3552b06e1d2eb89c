#include "allocation/holder_warning.h"

#include <fmt/format.h>

#include <string_view>

#include "codec/read.h"
#include "rules/allocated_address.h"

namespace berth::allocation {
namespace {

using codec::StringAt;
using codec::Value;

/// Returns the record as allocation.berth.io shows it, where addresses and ports have the same
/// fields for this.
std::optional<Value> ShownRecord(const RecordRows& rows, const state::Object& record) {
  const bool port = record.Resource() == rows.node_ports->resource;
  if (!port && record.Resource() != rows.ip_addresses->resource) return std::nullopt;
  const registry::Row& row = port ? *rows.node_ports : *rows.ip_addresses;
  auto object = registry::DecodeWithoutManagedFields(row, record);
  if (!object) return std::nullopt;
  if (port) return *std::move(object);
  row.strategy.reveal(*object, record.Hidden());
  return rules::AllocatedAddressFromStored(*object);
}

std::string HolderName(const Value& service) {
  return fmt::format("Service {}/{}", StringAt(service, "namespace"), StringAt(service, "name"));
}

std::string HowHeld(const Value& record) {
  if (const Value* service = codec::FindAt(record, "status", "service")) {
    const bool checks = StringAt(record, "status", "purpose") == "HealthCheck";
    return fmt::format("is held by {}{}", HolderName(*service),
                       checks ? " for its health check" : "");
  }
  if (const Value* service = codec::FindAt(record, "spec", "reservedFor")) {
    return "is reserved for " + HolderName(*service);
  }
  return "is reserved";
}

}  // namespace

std::optional<std::string> HolderWarning(const RecordRows& rows, const state::Object& record) {
  const std::optional<Value> shown = ShownRecord(rows, record);
  if (!shown) return std::nullopt;
  const auto state = rules::StateOfText(StringAt(*shown, "status", "state"));
  if (state == rules::RecordState::kFree) return std::nullopt;
  const bool port = record.Resource() == rows.node_ports->resource;
  std::string text =
      fmt::format("{}{} {}", port ? "node port " : "", record.Name(), HowHeld(*shown));
  for (const std::string_view when : {"since", "until"}) {
    const std::string_view time = StringAt(*shown, "status", when);
    if (!time.empty()) text += fmt::format(" {} {}", when, time);
  }
  return text;
}

}  // namespace berth::allocation
