// Says who asks for what. Made once per request; authorization, the audit log, fair shares and
// admission all read it.
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
/// Members may read metrics, as in Kubernetes.
inline constexpr const char* kMonitoringGroup = "system:monitoring";

struct Attributes {
  User user;
  std::string verb = {};  // "get", "list", "create". For a plain path the method in lower case.
  bool is_resource = false;
  std::string group = {};
  std::string version = {};
  std::string resource = {};
  std::string subresource = {};
  std::string name_space = {};
  std::string name = {};
  std::string path = {};  // Only if the request is not for a resource.
};

}  // namespace berth::server
