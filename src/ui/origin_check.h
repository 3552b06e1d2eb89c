// Keeps other web sites from using a browser against the page. A site whose name suddenly leads to
// this machine (DNS rebinding) has another Host; a request that another site or another port causes
// has another Origin or Sec-Fetch-Site. Pure and immutable, so any thread may ask.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace berth::ui {

struct OriginOptions {
  bool tls = false;
  /// Hosts with their port, as browsers write it: "127.0.0.1:43211", "[::1]:43211".
  std::vector<std::string> hosts = {};
  /// Names that count with every port: "observer.example.com", "*.example.com".
  std::vector<std::string> names = {};
  /// Whether an address counts with every port. No name leads to it, so it cannot be a trick.
  bool any_address = false;
};

/// Returns the three ways in which a browser writes a loopback port. Port 80, which browsers leave
/// out, counts without it too.
std::vector<std::string> LoopbackHosts(uint16_t port);

/// What a request asks for. People follow links to pages from anywhere, and a page does nothing and
/// shows nothing to the other site. Everything else is asked by scripts.
enum class Asked : uint8_t { kPage, kData };

class OriginCheck {
 public:
  explicit OriginCheck(OriginOptions options);

  /// Returns why the request is refused, in a sentence, or nullopt if it is not.
  std::optional<std::string> WhyRefused(const http::Request& request, Asked asked) const;

  /// Returns whether a Host header names this server.
  bool IsOwnHost(std::string_view host) const;

 private:
  bool IsOwnOrigin(std::string_view origin, std::string_view host) const;

  OriginOptions options_;
};

}  // namespace berth::ui
