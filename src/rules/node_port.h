// NodePorts of allocation.berth.io: a port that is taken or reserved. Anybody may make one and so
// keep the port from Services, or for one of them. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"
#include "rules/ip_address.h"

namespace berth::rules {

/// The port that an object of that name is about: a number from 1 to 65535 as it is usually
/// written. Nothing: there can be no object of that name.
std::optional<uint16_t> ReadNodePortName(std::string_view name);

/// Fills in what a reference to a range leaves out.
void DefaultNodePort(codec::Value& port);
/// The status is not the client's: it says that the port is reserved, or held.
void PrepareNodePortCreate(codec::Value& port);
void PrepareNodePortUpdate(codec::Value& port, const codec::Value& old);

FieldErrors ValidateNodePortCreate(const codec::Value& port);
/// The spec stays as it is.
FieldErrors ValidateNodePortUpdate(const codec::Value& port, const codec::Value& old);

/// The Service that has it, if it says that one has. Valid until the object changes.
std::optional<ServiceName> ServiceOfNodePort(const codec::Value& port);
/// Whether a Service has that port, for whatever it is.
bool HasNodePort(const codec::Value& service, std::string_view name);
/// Why the record of a port that the Service has cannot be deleted, and what to do instead.
std::string NodePortHeldByService(const codec::Value& service);

}  // namespace berth::rules
