#include "berth/serve/advertise.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "rules/address_text.h"

namespace berth::cli {
namespace {

/// Returns the address that the kernel would send from, to reach an address of the documentation
/// networks. Connecting a datagram socket only looks up the route.
std::optional<ip::Addr> AddressTowards(const sockaddr* target, socklen_t size) {
  const int fd = ::socket(target->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return std::nullopt;
  sockaddr_storage own{};
  socklen_t own_size = sizeof(own);
  const bool known = ::connect(fd, target, size) == 0 &&
                     ::getsockname(fd, reinterpret_cast<sockaddr*>(&own), &own_size) == 0;
  ::close(fd);
  if (!known) return std::nullopt;
  const void* bytes =
      own.ss_family == AF_INET
          ? static_cast<const void*>(&reinterpret_cast<sockaddr_in*>(&own)->sin_addr)
          : &reinterpret_cast<sockaddr_in6*>(&own)->sin6_addr;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(own.ss_family, bytes, text.data(), text.size()) == nullptr) return std::nullopt;
  const auto parsed = ip::ParseAddr(text.data(), ip::Strictness::kLegacyField);
  if (!parsed || !IsReachable(*parsed)) return std::nullopt;
  return *parsed;
}

std::optional<ip::Addr> AddressOfMachine() {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(9);
  ::inet_pton(AF_INET, "192.0.2.1", &v4.sin_addr);
  if (auto own = AddressTowards(reinterpret_cast<const sockaddr*>(&v4), sizeof(v4))) return own;
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(9);
  ::inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr);
  return AddressTowards(reinterpret_cast<const sockaddr*>(&v6), sizeof(v6));
}

}  // namespace

bool IsReachable(const ip::Addr& addr) {
  return rules::SpecialAddressProblem(addr.ToString()).empty();
}

std::optional<ip::Addr> AdvertisedAddress(const std::string& flag,
                                          const std::string& bind_address) {
  const auto given =
      ip::ParseAddr(flag.empty() ? bind_address : flag, ip::Strictness::kLegacyField);
  if (given && IsReachable(*given)) return *given;
  return AddressOfMachine();
}

}  // namespace berth::cli
