#include "http/socks.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <array>
#include <string_view>

namespace berth::http {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

constexpr char kVersion = 5;
constexpr char kNoPassword = 0;
constexpr char kPassword = 2;
constexpr char kIpv4 = 1;
constexpr char kName = 3;
constexpr char kIpv6 = 4;
constexpr size_t kLongestText = 255;

tl::unexpected<base::Error> ProxyFault(const Proxy& proxy, std::string_view what) {
  return Fail(Reason::kServiceUnavailable, fmt::format("the proxy {} {}", proxy.Where(), what));
}

std::string Counted(std::string_view text) {
  return static_cast<char>(text.size()) + std::string(text);
}

/// Returns the type and bytes of an address or name.
std::string AddressOf(const std::string& host) {
  std::array<char, 16> bytes{};
  if (inet_pton(AF_INET, host.c_str(), bytes.data()) == 1) {
    return kIpv4 + std::string(bytes.data(), 4);
  }
  if (inet_pton(AF_INET6, host.c_str(), bytes.data()) == 1) {
    return kIpv6 + std::string(bytes.data(), 16);
  }
  return kName + Counted(host);
}

std::string_view SocksError(char code) {
  constexpr std::array<std::string_view, 9> kWords = {"",
                                                      "has failed",
                                                      "does not allow the connection",
                                                      "cannot reach the network",
                                                      "cannot reach the host",
                                                      "was refused the connection",
                                                      "has run out of hops",
                                                      "cannot connect",
                                                      "does not know the type of the address"};
  const auto index = static_cast<unsigned char>(code);
  return index < kWords.size() ? kWords[index] : "answers with an unknown error";
}

Result<void> LogIn(ByteStream& stream, const Proxy& proxy) {
  const bool named = !proxy.user.empty();
  const std::string methods =
      named ? std::string{kNoPassword, kPassword} : std::string{kNoPassword};
  if (auto sent = stream.Write(kVersion + Counted(methods)); !sent) return sent;
  const auto chosen = stream.ReadExactly(2);
  if (!chosen) return tl::unexpected(chosen.error());
  if (chosen->front() != kVersion) return ProxyFault(proxy, "does not speak SOCKS 5");
  if (chosen->back() == kNoPassword) return {};
  if (chosen->back() != kPassword || !named) return ProxyFault(proxy, "demands another login");
  if (auto sent = stream.Write('\1' + Counted(proxy.user) + Counted(proxy.password)); !sent) {
    return sent;
  }
  const auto status = stream.ReadExactly(2);
  if (!status) return tl::unexpected(status.error());
  if (status->back() != 0) return ProxyFault(proxy, "refuses the user name or password");
  return {};
}

}  // namespace

Result<void> ConnectThroughSocks(ByteStream& stream, const Proxy& proxy, const std::string& host,
                                 uint16_t port) {
  if (host.size() > kLongestText || proxy.user.size() > kLongestText ||
      proxy.password.size() > kLongestText) {
    return ProxyFault(proxy, "cannot take a name or password of more than 255 bytes");
  }
  if (auto logged_in = LogIn(stream, proxy); !logged_in) return logged_in;
  constexpr std::string_view kConnect{"\5\1\0", 3};
  std::string request = std::string(kConnect) + AddressOf(host);
  request += static_cast<char>(port >> 8);
  request += static_cast<char>(port & 0xFF);
  if (auto sent = stream.Write(request); !sent) return sent;
  const auto answer = stream.ReadExactly(4);
  if (!answer) return tl::unexpected(answer.error());
  if ((*answer)[0] != kVersion) return ProxyFault(proxy, "does not speak SOCKS 5");
  if ((*answer)[1] != 0) return ProxyFault(proxy, SocksError((*answer)[1]));
  // The address that the proxy uses follows. It does not matter here.
  size_t rest = 0;
  if ((*answer)[3] == kName) {
    const auto size = stream.ReadExactly(1);
    if (!size) return tl::unexpected(size.error());
    rest = static_cast<unsigned char>(size->front());
  } else {
    rest = (*answer)[3] == kIpv6 ? 16 : 4;
  }
  if (const auto skipped = stream.ReadExactly(rest + 2); !skipped) {
    return tl::unexpected(skipped.error());
  }
  return {};
}

}  // namespace berth::http
