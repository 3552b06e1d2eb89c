// Which resource a path names. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "registry/kinds.h"

namespace berth::server {

struct Route {
  enum class Kind : uint8_t {
    kPlain,            // Not a resource: discovery, health, documents; `path` says which.
    kResource,         // One that is served.
    kUnknownResource,  // Inside a group that is served, but nothing there: a Status.
    kUnknownPath,      // Plain text.
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
  /// A namespaced kind, but no namespace named.
  bool AcrossNamespaces() const { return served.Kind().namespaced && name_space.empty(); }
  registry::Door Door() const;
};

/// `escaped` as it stands in the request.
Route ParseRoute(const registry::Kinds& kinds, std::string_view escaped);

/// The Kubernetes verb ("list", "create"); empty: the method is not allowed there.
std::string VerbOf(const Route& route, std::string_view method, bool watch);

}  // namespace berth::server
