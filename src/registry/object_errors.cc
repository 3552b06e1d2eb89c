#include "registry/object_errors.h"

#include <fmt/format.h>

namespace berth::registry {
namespace {

base::Details About(const api::Kind& kind, std::string_view name) {
  return {.name = std::string(name),
          .group = std::string(kind.group),
          .kind = std::string(kind.plural)};
}

std::string WithGroup(std::string_view name, std::string_view group) {
  return group.empty() ? std::string(name) : fmt::format("{}.{}", name, group);
}

}  // namespace

std::string QualifiedResource(const api::Kind& kind) { return WithGroup(kind.plural, kind.group); }
std::string QualifiedKind(const api::Kind& kind) { return WithGroup(kind.kind, kind.group); }

base::Error NotFound(const api::Kind& kind, std::string_view name) {
  return {.reason = base::Reason::kNotFound,
          .message = fmt::format("{} \"{}\" not found", QualifiedResource(kind), name),
          .details = About(kind, name)};
}

base::Error AlreadyExists(const api::Kind& kind, std::string_view name, bool being_deleted) {
  return {.reason = base::Reason::kAlreadyExists,
          .message = fmt::format("{}{} \"{}\" already exists",
                                 being_deleted ? "object is being deleted: " : "",
                                 QualifiedResource(kind), name),
          .details = About(kind, name)};
}

base::Error Conflict(const api::Kind& kind, std::string_view name, std::string_view why) {
  return {.reason = base::Reason::kConflict,
          .message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}",
                                 QualifiedResource(kind), name, why),
          .details = About(kind, name)};
}

base::Error Forbidden(const api::Kind& kind, std::string_view name, std::string_view why) {
  return {.reason = base::Reason::kForbidden,
          .message = fmt::format("{} \"{}\" is forbidden: {}", QualifiedResource(kind), name, why),
          .details = About(kind, name)};
}

base::Error InvalidObject(const rules::FieldErrors& errors, const api::Kind& kind,
                          std::string_view name) {
  base::Error error = errors.ToError(QualifiedKind(kind), name);
  error.details = base::Details{
      .name = std::string(name), .group = std::string(kind.group), .kind = std::string(kind.kind)};
  return error;
}

void AddWarnings(const std::vector<std::string>& warnings, base::Error& error) {
  error.warnings.insert(error.warnings.begin(), warnings.begin(), warnings.end());
}

}  // namespace berth::registry
