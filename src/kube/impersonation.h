// Another identity in whose name requests are made, and the headers that ask for it. The user who
// logs in needs the right to impersonate. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::kube {

struct Impersonation {
  std::string user = {};
  std::string uid = {};
  std::vector<std::string> groups = {};
  /// Each name with its values.
  std::vector<std::pair<std::string, std::vector<std::string>>> extra = {};

  bool operator==(const Impersonation&) const = default;
};

/// Returns the headers of every request: none if all members are empty. Fails if there is no user
/// although another member is set, and if a value cannot be sent in a header.
base::Result<std::vector<std::pair<std::string, std::string>>> ImpersonationHeaders(
    const Impersonation& who);

}  // namespace berth::kube
