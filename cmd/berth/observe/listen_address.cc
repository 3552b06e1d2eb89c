#include "berth/observe/listen_address.h"

#include <fmt/format.h>

#include <charconv>

#include "base/go_text.h"
#include "ip/addr.h"

namespace berth::cli {

bool ListenAddress::IsLoopback() const {
  const auto addr = ip::ParseAddr(host, ip::Strictness::kLegacyField);
  if (!addr) return false;
  constexpr unsigned kFirstByte = 24;
  constexpr unsigned kLoopbackNet = 127;
  if (addr->family() == ip::Family::kV4) return addr->bits() >> kFirstByte == kLoopbackNet;
  return addr->bits() == 1;
}

base::Result<ListenAddress> ParseListenAddress(std::string_view text) {
  const auto fail = [text](std::string_view why) {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("--listen {}: {}", base::GoQuoted(std::string(text)), why));
  };
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return fail("must be ADDRESS:PORT, such as 127.0.0.1:9464");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  ListenAddress address;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (error != std::errc() || end != port.data() + port.size()) {
    return fail("the port must be a number from 0 to 65535");
  }
  if (host.empty()) {
    address.host = "0.0.0.0";
    return address;
  }
  const bool brackets = host.starts_with('[') && host.ends_with(']');
  if (brackets) host = host.substr(1, host.size() - 2);
  const auto addr = ip::ParseAddr(host, ip::Strictness::kLegacyField);
  if (!addr || (addr->family() == ip::Family::kV6) != brackets) {
    return fail("must be an IP address and a port, such as 127.0.0.1:9464 or [::1]:9464");
  }
  address.host = host;
  return address;
}

}  // namespace berth::cli
