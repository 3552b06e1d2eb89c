#include "kube/server_url.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "base/go_text.h"
#include "ip/addr.h"

namespace berth::kube {
namespace {

using base::Reason;
using base::Result;

constexpr uint16_t kHttpPort = 80;
constexpr uint16_t kHttpsPort = 443;
constexpr size_t kMaxUrlBytes = 2048;

struct UrlParts {
  std::string scheme;  // In lower case; empty if the text has none.
  std::string_view authority;
  std::string_view path;  // Without query and fragment.
};

tl::unexpected<base::Error> BadUrl(std::string why) {
  return base::Fail(Reason::kInvalid, std::move(why));
}

bool IsUrlCharacter(char c) { return c > ' ' && c < '\x7f' && c != '"' && c != '\\'; }

Result<UrlParts> SplitUrl(std::string_view text) {
  if (text.size() > kMaxUrlBytes) return BadUrl("is too long");
  if (!std::all_of(text.begin(), text.end(), IsUrlCharacter)) {
    return BadUrl("contains a character that a URL cannot have");
  }
  UrlParts parts;
  constexpr std::string_view kAfterScheme = "://";
  if (const size_t end = text.find(kAfterScheme); end != std::string_view::npos) {
    parts.scheme = base::InLowerCase(text.substr(0, end));
    text.remove_prefix(end + kAfterScheme.size());
  }
  text = text.substr(0, text.find_first_of("?#"));
  parts.authority = text.substr(0, text.find('/'));
  parts.path = text.substr(parts.authority.size());
  return parts;
}

Result<uint16_t> ParsePort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port == 0) {
    return BadUrl(
        fmt::format("has the port {}, which is not from 1 to 65535", base::GoQuoted(text)));
  }
  return port;
}

bool IsHostCharacter(char c) {
  return base::IsDigit(c) || (base::ToLower(c) >= 'a' && base::ToLower(c) <= 'z') || c == '-' ||
         c == '.' || c == '_';
}

/// Returns the address within brackets. A zone is written as "%25eth0" in a URL.
Result<std::string> BracketHost(std::string_view text) {
  constexpr std::string_view kZoneMark = "%25";
  const size_t zone = text.find('%');
  const auto address = ip::ParseAddrLoose(text.substr(0, zone));
  const std::string_view after = zone == std::string_view::npos ? "" : text.substr(zone);
  const bool good_zone =
      after.empty() ||
      (after.size() > kZoneMark.size() && after.starts_with(kZoneMark) &&
       std::all_of(after.begin() + kZoneMark.size(), after.end(), IsHostCharacter));
  if (!address || text.find(':') == std::string_view::npos || !good_zone) {
    return BadUrl(fmt::format("has the host [{}], which is not an IPv6 address", text));
  }
  if (after.empty()) return std::string(text);
  return fmt::format("{}%{}", text.substr(0, zone), after.substr(kZoneMark.size()));
}

struct HostAndPort {
  std::string host;
  std::optional<uint16_t> port;
};

Result<HostAndPort> SplitAuthority(std::string_view authority) {
  HostAndPort out;
  std::string_view after;
  if (authority.starts_with('[')) {
    const size_t end = authority.find(']');
    if (end == std::string_view::npos) return BadUrl("has a host with [ but without ]");
    auto host = BracketHost(authority.substr(1, end - 1));
    if (!host) return tl::unexpected(host.error());
    out.host = *std::move(host);
    after = authority.substr(end + 1);
    if (!after.empty() && after.front() != ':') return BadUrl("has text after the ] of its host");
  } else {
    const size_t colon = authority.find(':');
    const std::string_view host = authority.substr(0, colon);
    after = authority.substr(host.size());
    if (after.find(':', 1) != std::string_view::npos) {
      return BadUrl("has a host with several colons; write an IPv6 address in brackets: [fd00::1]");
    }
    if (!std::all_of(host.begin(), host.end(), IsHostCharacter)) {
      return BadUrl(
          fmt::format("has the host {}, which is not a name or an address", base::GoQuoted(host)));
    }
    out.host = host;
  }
  if (out.host.empty()) return BadUrl("has no host");
  if (after.size() > 1) {  // A colon alone means the default port, as in Go.
    const auto port = ParsePort(after.substr(1));
    if (!port) return tl::unexpected(port.error());
    out.port = *port;
  }
  return out;
}

}  // namespace

Result<ServerUrl> ParseServerUrl(std::string_view text) {
  const auto parts = SplitUrl(text);
  if (!parts) return tl::unexpected(parts.error());
  ServerUrl url;
  if (parts->scheme == "https") {
    url.tls = true;
  } else if (parts->scheme == "http" || parts->scheme.empty()) {
    url.tls = false;
  } else {
    return BadUrl("does not begin with https:// or http://");
  }
  if (parts->authority.find('@') != std::string_view::npos) {
    return BadUrl("contains a user; user and password belong to the user of the kubeconfig");
  }
  auto where = SplitAuthority(parts->authority);
  if (!where) return tl::unexpected(where.error());
  url.host = std::move(where->host);
  url.port = where->port.value_or(url.tls ? kHttpsPort : kHttpPort);
  std::string_view path = parts->path;
  while (path.ends_with('/')) path.remove_suffix(1);
  url.path_prefix = path;
  return url;
}

Result<std::string> CheckProxyUrl(std::string_view text) {
  const auto parts = SplitUrl(text);
  if (!parts) return tl::unexpected(parts.error());
  if (parts->scheme != "http" && parts->scheme != "https" && parts->scheme != "socks5") {
    return BadUrl("does not begin with http://, https:// or socks5://");
  }
  std::string_view authority = parts->authority;
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    authority.remove_prefix(at + 1);
  }
  if (const auto where = SplitAuthority(authority); !where) return tl::unexpected(where.error());
  return fmt::format("{}://{}", parts->scheme, parts->authority);
}

}  // namespace berth::kube
