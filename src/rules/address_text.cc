#include "rules/address_text.h"

#include <fmt/format.h>

#include <optional>

#include "base/go_text.h"
#include "ip/addr.h"
#include "ip/cidr.h"

namespace berth::rules {
namespace {

using base::U128;

/// Returns whether the first `length` bits of the address are `bits`.
bool StartsWith(const ip::Addr& addr, uint64_t bits, int length) {
  return addr.bits() >> (ip::Width(addr.family()) - length) == U128(bits);
}

bool IsLoopback(const ip::Addr& addr) {
  return addr.family() == ip::Family::kV4 ? StartsWith(addr, 127, 8) : addr.bits() == U128(1);
}

bool IsLinkLocal(const ip::Addr& addr) {
  return addr.family() == ip::Family::kV4 ? StartsWith(addr, 0xa9fe, 16)
                                          : StartsWith(addr, 0xfe80 >> 6, 10);
}

/// IPv6 multicast of scope 2 may have any flags: ff02::/16, ff12::/16 and so on.
bool IsLinkLocalMulticast(const ip::Addr& addr) {
  if (addr.family() == ip::Family::kV4) return StartsWith(addr, 0xe00000, 24);
  return StartsWith(addr, 0xff, 8) && ((addr.bits() >> 112) & U128(0xf)) == U128(2);
}

}  // namespace

std::string SpecialAddressProblem(std::string_view text) {
  const auto parsed = ip::ParseAddrLoose(text);
  if (!parsed.has_value()) return {};
  const ip::Addr& addr = parsed->addr;
  if (addr.bits() == U128(0)) return fmt::format("may not be unspecified ({})", text);
  if (IsLoopback(addr)) return "may not be in the loopback range (127.0.0.0/8, ::1/128)";
  if (IsLinkLocal(addr)) return "may not be in the link-local range (169.254.0.0/16, fe80::/10)";
  if (IsLinkLocalMulticast(addr)) {
    return "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)";
  }
  return {};
}

void RequireEndpointAddress(FieldErrors& errors, const Path& path, std::string_view text) {
  if (!ip::ParseAddrLoose(text)) {
    errors.Invalid(path, text, "must be a valid IP address");
  } else if (const std::string problem = SpecialAddressProblem(text); !problem.empty()) {
    errors.Invalid(path, text, problem);
  }
}

void WarnOfAddress(std::vector<std::string>& warnings, const Path& path, std::string_view text) {
  const std::optional<ip::LooseAddr> parsed = ip::ParseAddrLoose(text);
  if (!parsed.has_value()) return;
  const std::string canonical = parsed->addr.ToString();
  if (parsed->leading_zeros || parsed->v4_mapped) {
    warnings.push_back(fmt::format("{}: non-standard IP address {} is invalid: use {}", path.text(),
                                   base::GoQuoted(text), base::GoQuoted(canonical)));
  } else if (canonical != text) {
    warnings.push_back(
        fmt::format("{}: IPv6 address {} should be in RFC 5952 canonical format ({})", path.text(),
                    base::GoQuoted(text), base::GoQuoted(canonical)));
  }
}

void WarnOfBlock(std::vector<std::string>& warnings, const Path& path, std::string_view text) {
  const std::optional<ip::LooseCidr> parsed = ip::ParseCidrLoose(text);
  if (!parsed.has_value()) return;
  const std::string canonical = parsed->cidr.ToString();
  if (parsed->host_bits_set) {
    const std::string_view host = text.substr(0, text.find('/'));
    const auto addr = ip::ParseAddrLoose(host);
    const std::string one = fmt::format("{}/{}", addr.has_value() ? addr->addr.ToString() : host,
                                        ip::Width(parsed->cidr.family()));
    warnings.push_back(fmt::format(
        "{}: CIDR value {} is ambiguous in this context (should be {} or {}?)", path.text(),
        base::GoQuoted(text), base::GoQuoted(canonical), base::GoQuoted(one)));
  } else if (parsed->leading_zeros || parsed->v4_mapped) {
    warnings.push_back(fmt::format("{}: non-standard CIDR value {} is invalid: use {}", path.text(),
                                   base::GoQuoted(text), base::GoQuoted(canonical)));
  } else if (canonical != text) {
    warnings.push_back(
        fmt::format("{}: IPv6 CIDR value {} should be in RFC 5952 canonical format ({})",
                    path.text(), base::GoQuoted(text), base::GoQuoted(canonical)));
  }
}

}  // namespace berth::rules
