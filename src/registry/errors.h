// Errors about an object or a resource, in Kubernetes' words and with its details. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "base/error.h"
#include "rules/field_error.h"

namespace berth::registry {

/// "services" or "servicecidrs.networking.k8s.io": how messages name a resource.
std::string QualifiedResource(const api::Kind& kind);
/// "Service" or "ServiceCIDR.networking.k8s.io": how messages about invalid objects do.
std::string QualifiedKind(const api::Kind& kind);

base::Error NotFound(const api::Kind& kind, std::string_view name);
base::Error AlreadyExists(const api::Kind& kind, std::string_view name, bool being_deleted);
/// `Operation cannot be fulfilled on services "web": <why>`.
base::Error Conflict(const api::Kind& kind, std::string_view name, std::string_view why);
/// `services "web" is forbidden: <why>`.
base::Error Forbidden(const api::Kind& kind, std::string_view name, std::string_view why);
/// `Service "web" is invalid: ...`, one cause for each of the errors.
base::Error InvalidObject(const rules::FieldErrors& errors, const api::Kind& kind,
                          std::string_view name);

/// What a client should hear of what it sent, ahead of what it hears of the error itself.
void AddWarnings(const std::vector<std::string>& warnings, base::Error& error);

/// What an update on an old version is told.
inline constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

}  // namespace berth::registry
