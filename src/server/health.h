// Health checks: /healthz, /livez and /readyz. Each check has a name, and passes or says why not.
//
// Checks are added before serving begins. After that any thread may ask.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/query.h"

namespace berth::server {

class Health {
 public:
  /// Returns nullopt if all is well, otherwise the problem.
  using Check = std::function<std::optional<std::string>()>;

  /// Adds a check for readiness only, or for readiness and liveness.
  void AddReady(std::string name, Check check) {
    ready_.push_back({std::move(name), std::move(check)});
  }
  void AddLive(std::string name, Check check) {
    live_.push_back({std::move(name), std::move(check)});
  }

  struct Answer {
    int code = 200;
    std::string text;

    bool operator==(const Answer&) const = default;
  };
  /// Runs the checks. `path` is "/readyz", or "/readyz/<name>" for one check. Returns nullopt if
  /// there is no such check.
  std::optional<Answer> Ask(std::string_view path, const Query& query) const;

 private:
  struct Named {
    std::string name;
    Check check;
  };

  std::vector<const Named*> ChecksOf(std::string_view endpoint) const;

  std::vector<Named> live_;
  std::vector<Named> ready_;
};

}  // namespace berth::server
