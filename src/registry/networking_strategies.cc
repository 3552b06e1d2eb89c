// The strategies of addresses and their ranges, made of the rules in src/rules.
#include <array>
#include <string_view>

#include "codec/read.h"
#include "registry/kind_rows.h"
#include "rules/ip_address.h"
#include "rules/service_cidr.h"

namespace berth::registry {
namespace {

using codec::Value;

std::optional<Keeper> ParentOf(const Value& address) {
  const auto service = rules::ParentService(address);
  if (!service) return std::nullopt;
  return Keeper{.kind = &api::kServiceKind,
                .name_space = std::string(service->name_space),
                .name = std::string(service->name)};
}

/// A Service that has the address objects: it would share the address with the next Service that
/// gets it.
std::optional<std::string> ObjectionOfParent(const Value& address, const Value& service) {
  if (!rules::HasClusterIp(service, codec::StringAt(address, "metadata", "name"))) {
    return std::nullopt;
  }
  return rules::HeldByService(service);
}

}  // namespace

Strategy IpAddressStrategy() {
  Strategy strategy;
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateIpAddressCreate(object);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door, const View&) {
    return rules::ValidateIpAddressUpdate(object, old);
  };
  strategy.keeper = ParentOf;
  strategy.objection = ObjectionOfParent;
  strategy.hide = rules::TakeInternalAnnotations;
  strategy.reveal = rules::PutInternalAnnotations;
  strategy.assume = rules::AssumedNotes;
  strategy.ends = rules::AddressEnds;
  static constexpr std::array<std::string_view, 5> kOwn = {"name", "uid", "creationTimestamp",
                                                           "namespace", "name"};
  strategy.own_members = kOwn;
  strategy.name_as_given = true;
  return strategy;
}

Strategy ServiceCidrStrategy() {
  Strategy strategy;
  strategy.prepare_create = [](Value& object, const Settings&) {
    rules::PrepareServiceCidrCreate(object);
  };
  strategy.validate_create = [](const Value& object, const View&) {
    return rules::ValidateServiceCidrCreate(object);
  };
  strategy.prepare_update = [](Value& object, const Value& old, Door door, const Settings&) {
    if (door == Door::kStatus) return rules::PrepareServiceCidrStatusUpdate(object, old);
    rules::PrepareServiceCidrUpdate(object, old);
  };
  strategy.validate_update = [](const Value& object, const Value& old, Door door, const View&) {
    if (door == Door::kStatus) return rules::ValidateServiceCidrStatusUpdate(object, old);
    return rules::ValidateServiceCidrUpdate(object, old);
  };
  return strategy;
}

}  // namespace berth::registry
