#include "kube/proxy_env.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/ascii.h"
#include "base/go_text.h"
#include "ip/addr.h"
#include "ip/cidr.h"

namespace berth::kube {
namespace {

using base::Result;

std::string LowerText(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), base::ToLower);
  return out;
}

/// Parses an address as Go's net.ParseIP does.
std::optional<ip::Addr> AddressOf(std::string_view text) {
  const auto parsed = ip::ParseAddrLoose(text);
  if (!parsed || parsed->leading_zeros) return std::nullopt;
  return parsed->addr;
}

bool IsLoopback(const ip::Addr& address) {
  const bool v4 = address.family() == ip::Family::kV4;
  return v4 ? (address.bits() >> 24) == 127 : address.bits() == 1;
}

/// One entry of NO_PROXY, split at its port.
struct NoProxyEntry {
  std::string_view host;
  std::string_view port;  // Empty for every port.
};

/// Splits as Go does: text with several colons is an IPv6 address without a port.
NoProxyEntry SplitEntry(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = text.find("]:");
    if (end == std::string_view::npos) return {.host = text, .port = {}};
    return {.host = text.substr(1, end - 1), .port = text.substr(end + 2)};
  }
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return {.host = text, .port = {}};
  }
  return {.host = text.substr(0, colon), .port = text.substr(colon + 1)};
}

bool DomainMatches(std::string_view domain, std::string_view host) {
  if (domain.starts_with("*.")) domain.remove_prefix(1);
  if (domain.starts_with('.')) return host.ends_with(domain);
  return host == domain || (host.size() > domain.size() && host.ends_with(domain) &&
                            host[host.size() - domain.size() - 1] == '.');
}

bool EntryMatches(std::string_view text, std::string_view host, std::string_view port,
                  const std::optional<ip::Addr>& address) {
  const auto cidr = ip::ParseCidrLoose(text);
  if (cidr && !cidr->leading_zeros) return address && cidr->cidr.Contains(*address);
  const NoProxyEntry entry = SplitEntry(text);
  if (entry.host.empty()) return false;
  if (!entry.port.empty() && entry.port != port) return false;
  if (const auto named = AddressOf(entry.host)) return address == named;
  return DomainMatches(entry.host, host);
}

}  // namespace

bool GoesAroundProxy(std::string_view no_proxy, std::string_view host, uint16_t port) {
  const std::string lower = LowerText(host);
  if (lower == "localhost") return true;
  const auto address = AddressOf(lower);
  if (address && IsLoopback(*address)) return true;
  const std::string port_text = fmt::to_string(port);
  const std::string entries = LowerText(no_proxy);
  for (std::string_view left = entries; !left.empty();) {
    const std::string_view part = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), part.size() + 1));
    const std::string_view entry = base::GoTrimSpace(part);
    if (entry.empty()) continue;
    if (entry == "*" || EntryMatches(entry, lower, port_text, address)) return true;
  }
  return false;
}

Result<std::string> ProxyFromEnvironment(const ServerUrl& server, const VariableReader& variable) {
  std::string name = server.tls ? "HTTPS_PROXY" : "HTTP_PROXY";
  std::string proxy = variable(name);
  if (proxy.empty()) {
    name = LowerText(name);
    proxy = variable(name);
  }
  if (proxy.empty()) return std::string();
  std::string no_proxy = variable("NO_PROXY");
  if (no_proxy.empty()) no_proxy = variable("no_proxy");
  if (GoesAroundProxy(no_proxy, server.host, server.port)) return std::string();
  if (proxy.find("://") == std::string::npos) proxy.insert(0, "http://");
  // Both forms leave the lookup of names to the proxy.
  constexpr std::string_view kRemoteNames = "socks5h://";
  if (proxy.starts_with(kRemoteNames)) proxy.replace(0, kRemoteNames.size(), "socks5://");
  auto checked = CheckProxyUrl(proxy);
  if (checked) return checked;
  return base::Fail(base::Reason::kInvalid,
                    fmt::format("the proxy in the environment variable {} {}; correct it, or unset "
                                "it to connect directly",
                                name, checked.error().message));
}

}  // namespace berth::kube
