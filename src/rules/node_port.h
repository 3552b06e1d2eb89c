// NodePorts of allocation.berth.io: a port that is taken or reserved. A client may create one to
// keep the port from all Services, or to reserve it for one Service. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "codec/value.h"
#include "rules/field_error.h"
#include "rules/ip_address.h"

namespace berth::rules {

/// Parses the name of an object: the port as a decimal number from 1 to 65535, without leading
/// zeros. Returns nullopt if the name is not valid.
std::optional<uint16_t> ReadNodePortName(std::string_view name);

/// Fills in the omitted fields of a reference to a range.
void DefaultNodePort(codec::Value& port);
/// Replaces the status, which the client does not control: it says that the port is reserved, or
/// held.
void PrepareNodePortCreate(codec::Value& port);
void PrepareNodePortUpdate(codec::Value& port, const codec::Value& old);

/// Fills in since when the port is in its state: since its creation, if nothing else is said.
/// Older versions noted only later changes.
void DecorateNodePort(codec::Value& port);

FieldErrors ValidateNodePortCreate(const codec::Value& port);
/// Requires an unchanged spec.
FieldErrors ValidateNodePortUpdate(const codec::Value& port, const codec::Value& old);

/// Returns the Service that holds the port, or nullopt if the record names none. Valid until the
/// object changes.
std::optional<ServiceName> ServiceOfNodePort(const codec::Value& port);
/// Returns whether a Service has that port, for any purpose.
bool HasNodePort(const codec::Value& service, std::string_view name);
/// Returns why the record of a port that the Service has cannot be deleted, and what to do instead.
std::string NodePortHeldByService(const codec::Value& service);

/// Returns when a port's record ends by itself, if it is held or cools down.
std::optional<base::WallTime> PortEnds(const codec::Value& port, std::string_view hidden);

}  // namespace berth::rules
