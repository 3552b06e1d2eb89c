// Finds the resource that a path names. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "registry/kind_rows.h"

namespace berth::server {

struct Route {
  enum class Kind : uint8_t {
    kPlain,            // Not a resource but `path`: discovery, health, documents.
    kResource,         // A resource that is served.
    kUnknownResource,  // An unknown path in a group that is served. Answered with a Status.
    kUnknownPath,      // Any other unknown path. Answered with plain text.
  };

  Kind kind = Kind::kPlain;
  std::string path = {};  // Decoded, without a slash at the end.
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string subresource = {};
  std::string name_space = {};
  std::string name = {};
  registry::Served served = {};

  bool IsCollection() const { return name.empty(); }
  /// Returns whether the kind is namespaced but the path names no namespace.
  bool AcrossNamespaces() const { return served.Kind().namespaced && name_space.empty(); }
  registry::Door Door() const;
};

/// Parses a path. `escaped` is the path as the request has it.
Route ParseRoute(const registry::Kinds& kinds, std::string_view escaped);

/// Returns the Kubernetes verb ("list", "create"), or an empty text if the method is not allowed.
std::string VerbOf(const Route& route, std::string_view method, bool watch);

/// Returns whether a kind is served with a verb ("list").
bool HasVerb(const api::Kind& kind, std::string_view verb);

}  // namespace berth::server
