// One plain HTTP request at a time, for tests that talk to etcd's JSON gateway, health and metrics.
#pragma once

#include <chrono>
#include <optional>
#include <string>

namespace berth::store::etcd::testing {

struct HttpAnswer {
  int code = 0;
  std::string body;
};

/// Sends `body` with POST, or GET when there is none. Nothing: no answer within `limit`.
std::optional<HttpAnswer> HttpFetch(const std::string& host, int port, const std::string& path,
                                    const std::string& body = {}, const std::string& token = {},
                                    std::chrono::milliseconds limit = std::chrono::seconds(1));

}  // namespace berth::store::etcd::testing
