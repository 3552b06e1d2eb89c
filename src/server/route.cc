#include "server/route.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "server/query.h"

namespace berth::server {
namespace {

/// More segments than any path that is served.
constexpr size_t kMaxSegments = 16;

std::vector<std::string_view> Segments(std::string_view path) {
  std::vector<std::string_view> segments;
  segments.reserve(8);
  while (!path.empty() && segments.size() <= kMaxSegments) {
    if (path.front() == '/') path.remove_prefix(1);
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view text = path.substr(0, end);
    path.remove_prefix(end);
    if (text.empty() && path.empty()) break;
    segments.emplace_back(text);
  }
  return segments;
}

bool IsNamespaceSubresource(std::string_view text) {
  return text == "status" || text == "finalize";
}

/// Parses the segments after group and version. Returns false if they do not name a resource.
bool TakeResource(std::span<const std::string_view> parts, Route& route) {
  size_t at = 0;
  const bool of_a_namespace = parts.size() == 3 && IsNamespaceSubresource(parts[2]);
  if (parts[0] == "namespaces" && parts.size() >= 3 && !of_a_namespace) {
    route.name_space = parts[1];
    at = 2;
  }
  route.resource = parts[at];
  if (parts.size() > at + 1) route.name = parts[at + 1];
  if (parts.size() > at + 2) route.subresource = parts[at + 2];
  const bool with_path = route.subresource == "proxy";  // A path may follow.
  return (parts.size() <= at + 3 || with_path) &&
         std::none_of(parts.begin(), parts.end(), [](const auto& part) { return part.empty(); });
}

bool HasSubresource(const api::Kind& kind, std::string_view name) {
  return (name == "status" && kind.has_status) || (name == "finalize" && kind.has_finalize) ||
         (name == "proxy" && kind.has_proxy);
}

/// Returns whether the path's subresource, namespace and name are possible for the kind.
bool Fits(const Route& route, const api::Kind& kind) {
  if (!route.subresource.empty() && !HasSubresource(kind, route.subresource)) return false;
  if (!kind.namespaced) return route.name_space.empty();
  return !route.name_space.empty() || route.name.empty();
}

}  // namespace

registry::Door Route::Door() const {
  if (subresource == "status") return registry::Door::kStatus;
  return subresource == "finalize" ? registry::Door::kFinalize : registry::Door::kMain;
}

Route ParseRoute(const registry::Kinds& kinds, std::string_view escaped) {
  Route route;
  // The path is decoded before it is split, as in Kubernetes: an escaped slash separates segments,
  // so no name contains a slash.
  auto decoded = PercentDecode(escaped, false);
  route.path = decoded ? *std::move(decoded) : std::string(escaped);
  const std::vector<std::string_view> segments = Segments(route.path);
  if (route.path.size() > 1 && route.path.ends_with('/')) route.path.pop_back();
  if (segments.empty() || (segments[0] != "api" && segments[0] != "apis")) return route;
  const size_t names = segments[0] == "api" ? 2 : 3;
  const auto& views = kinds.Views();
  if (segments[0] == "apis" && segments.size() > 1) {
    route.group = segments[1];
    const bool known = std::any_of(views.begin(), views.end(), [&](const api::Kind* kind) {
      return kind->group == route.group && !route.group.empty();
    });
    if (!known) {
      route.kind = Route::Kind::kUnknownPath;
      return route;
    }
  }
  if (segments.size() < names) return route;
  route.version = segments[names - 1];
  const bool known = std::any_of(views.begin(), views.end(), [&](const api::Kind* kind) {
    return kind->group == route.group && kind->version == route.version;
  });
  if (known && segments.size() == names) return route;
  route.kind = Route::Kind::kUnknownResource;
  if (segments.size() == names) return route;
  if (!TakeResource(std::span(segments).subspan(names), route)) return route;
  const auto served = kinds.Find(route.group, route.version, route.resource);
  if (!served || !Fits(route, served->Kind())) return route;
  route.served = *served;
  route.kind = Route::Kind::kResource;
  return route;
}

std::string VerbOf(const Route& route, std::string_view method, bool watch) {
  const api::Kind& kind = route.served.Kind();
  std::string verb;
  if (!route.subresource.empty()) {
    if (route.subresource == "proxy" && method == "POST") return "create";
    if (route.subresource == "proxy" && method == "DELETE") return "delete";
    if (method == "PUT") verb = "update";
    if (route.subresource != "finalize" && method == "GET") verb = "get";
    if (route.subresource != "finalize" && method == "PATCH") verb = "patch";
    return verb;
  }
  if (route.IsCollection()) {
    if (method == "GET") return watch ? "watch" : "list";
    if (route.AcrossNamespaces()) return "";
    if (method == "POST") verb = "create";
    if (method == "DELETE") verb = "deletecollection";
  } else {
    if (method == "GET") verb = "get";
    if (method == "PUT") verb = "update";
    if (method == "PATCH") verb = "patch";
    if (method == "DELETE") verb = "delete";
  }
  return HasVerb(kind, verb) ? verb : "";
}

bool HasVerb(const api::Kind& kind, std::string_view verb) {
  return std::find(kind.verbs.begin(), kind.verbs.end(), verb) != kind.verbs.end();
}

}  // namespace berth::server
