// One plain HTTP request at a time, for tests that use etcd's JSON gateway, health and metrics.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace berth::store::etcd::testing {

struct HttpAnswer {
  int code = 0;
  std::string body;
};

/// Sends `body` with POST, or a GET if it is empty. Returns nullopt if no answer comes within
/// `limit`.
std::optional<HttpAnswer> HttpFetch(const std::string& host, int port, const std::string& path,
                                    const std::string& body = {}, const std::string& token = {},
                                    std::chrono::milliseconds limit = std::chrono::seconds(1));

}  // namespace berth::store::etcd::testing
