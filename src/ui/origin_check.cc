#include "ui/origin_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace berth::ui {
namespace {

constexpr size_t kMaxHost = 300;
constexpr uint16_t kHttpPort = 80;

bool IsDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Returns the host without its port, or "" if this is no host that a browser writes. The address
/// of an IPv6 host keeps its brackets.
std::string_view WithoutPort(std::string_view host) {
  const size_t bracket = host.starts_with('[') ? host.find(']') : 0;
  if (bracket == std::string_view::npos) return "";
  const size_t colon = host.find(':', bracket);
  if (colon == std::string_view::npos) return host;
  constexpr size_t kPortDigits = 5;
  const std::string_view port = host.substr(colon + 1);
  return IsDigits(port) && port.size() <= kPortDigits ? host.substr(0, colon) : "";
}

/// Returns whether a host without its port is an address. Browsers take a name that ends in a
/// number for an IPv4 address, so no such name can be looked up.
bool IsAddress(std::string_view host) {
  if (host.starts_with('[')) {
    return host.ends_with(']') &&
           host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdef:.") ==
               std::string_view::npos;
  }
  return std::ranges::count(host, '.') == 3 && IsDigits(host.substr(host.rfind('.') + 1)) &&
         host.find_first_not_of("0123456789.") == std::string_view::npos;
}

/// Returns whether a name of a certificate covers the host. A star stands for one label.
bool Covers(std::string_view name, std::string_view host) {
  if (!name.starts_with("*.")) return name == host;
  const size_t dot = host.find('.');
  return dot != std::string_view::npos && dot > 0 && host.substr(dot) == name.substr(1);
}

}  // namespace

std::vector<std::string> LoopbackHosts(uint16_t port) {
  std::vector<std::string> hosts;
  for (const char* host : {"127.0.0.1", "localhost", "[::1]"}) {
    hosts.push_back(fmt::format("{}:{}", host, port));
    if (port == kHttpPort) hosts.emplace_back(host);
  }
  return hosts;
}

OriginCheck::OriginCheck(OriginOptions options) : options_(std::move(options)) {
  for (std::string& name : options_.names) name = base::InLowerCase(name);
}

bool OriginCheck::IsOwnHost(std::string_view given) const {
  if (given.empty() || given.size() > kMaxHost) return false;
  const std::string host = base::InLowerCase(given);
  if (std::ranges::find(options_.hosts, host) != options_.hosts.end()) return true;
  const std::string_view name = WithoutPort(host);
  if (name.empty()) return false;
  if (options_.any_address && IsAddress(name)) return true;
  return std::ranges::any_of(options_.names,
                             [name](const std::string& own) { return Covers(own, name); });
}

/// A proxy may pass on another Host than that of the browser. Its names count for the origin too.
bool OriginCheck::IsOwnOrigin(std::string_view origin, std::string_view host) const {
  const std::string_view scheme = options_.tls ? "https://" : "http://";
  if (!origin.starts_with(scheme)) return false;
  origin.remove_prefix(scheme.size());
  if (base::InLowerCase(origin) == base::InLowerCase(host)) return true;
  return !options_.names.empty() && IsOwnHost(origin) && !IsAddress(WithoutPort(origin));
}

std::optional<std::string> OriginCheck::WhyRefused(const http::Request& request,
                                                   Asked asked) const {
  const std::string_view host = request.headers.Find("host").value_or("");
  if (!IsOwnHost(host)) return "this server has another name than the one that was asked for";
  const bool is_read = request.method == "GET" || request.method == "HEAD";
  const bool is_visit = asked == Asked::kPage && is_read;
  const auto origins = request.headers.FindAll("origin");
  if (origins.size() > 1) return "the request has more than one Origin";
  if (!origins.empty() && !IsOwnOrigin(origins.front(), host)) {
    return "the request comes from another web site";
  }
  const auto sites = request.headers.FindAll("sec-fetch-site");
  if (sites.empty()) return std::nullopt;  // No browser, or an old one.
  const bool own = sites.size() == 1 && (sites.front() == "same-origin" || sites.front() == "none");
  const bool follows_link =
      is_visit && request.headers.Find("sec-fetch-mode") == "navigate" &&
      request.headers.Find("sec-fetch-dest").value_or("document") == "document";
  if (!own && !follows_link) return "the request comes from another web site";
  return std::nullopt;
}

}  // namespace berth::ui
