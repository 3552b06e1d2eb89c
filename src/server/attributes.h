// Who asks for what: made once per request, and the same for authorization, audit, fair shares and
// admission.
#pragma once

#include <string>
#include <vector>

namespace berth::server {

struct User {
  std::string name = {};
  std::string uid = {};
  std::vector<std::string> groups = {};

  bool In(const std::string& group) const {
    for (const std::string& of : groups) {
      if (of == group) return true;
    }
    return false;
  }
};

inline constexpr const char* kAnonymous = "system:anonymous";
inline constexpr const char* kUnauthenticatedGroup = "system:unauthenticated";
inline constexpr const char* kAuthenticatedGroup = "system:authenticated";
inline constexpr const char* kMastersGroup = "system:masters";
/// May read metrics; as in Kubernetes.
inline constexpr const char* kMonitoringGroup = "system:monitoring";

struct Attributes {
  User user;
  std::string verb =
      {};  // get, list, watch, create, ...; of a plain path the method in lower case.
  bool is_resource = false;
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string subresource = {};
  std::string name_space = {};
  std::string name = {};
  std::string path = {};  // Of what is no resource.
};

}  // namespace berth::server
