// Errors about an object or a resource, in Kubernetes' words and with its details. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "base/error.h"
#include "rules/field_error.h"

namespace berth::registry {

/// Returns how messages name a resource: "services" or "servicecidrs.networking.k8s.io".
std::string QualifiedResource(const api::Kind& kind);
/// Returns how messages about invalid objects name a kind: "Service" or
/// "ServiceCIDR.networking.k8s.io".
std::string QualifiedKind(const api::Kind& kind);

base::Error NotFound(const api::Kind& kind, std::string_view name);
base::Error AlreadyExists(const api::Kind& kind, std::string_view name, bool being_deleted);
/// `Operation cannot be fulfilled on services "web": <why>`.
base::Error Conflict(const api::Kind& kind, std::string_view name, std::string_view why);
/// `services "web" is forbidden: <why>`.
base::Error Forbidden(const api::Kind& kind, std::string_view name, std::string_view why);
/// `Service "web" is invalid: ...`, with a cause for each of the errors.
base::Error InvalidObject(const rules::FieldErrors& errors, const api::Kind& kind,
                          std::string_view name);

/// Adds warnings about what the client sent, before the warnings of the error itself.
void AddWarnings(const std::vector<std::string>& warnings, base::Error& error);

/// The message for an update of an old version.
inline constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

}  // namespace berth::registry
