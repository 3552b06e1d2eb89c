#include "ip/cidr.h"

#include <fmt/format.h>

#include <cassert>
#include <cstddef>
#include <utility>

namespace berth::ip {
namespace {

constexpr std::string_view kUnreadable =
    "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
constexpr int kMappedPrefixLength = 96;
constexpr base::U128 kMappedNetwork = base::U128{0xFFFF} << 32;  // ::ffff:0:0

/// Returns the bits beyond the prefix, all set.
constexpr base::U128 HostMask(int host_bits) {
  return host_bits == 128 ? base::kU128Max : (base::U128{1} << host_bits) - 1;
}

/// Parses digits. Stopping at `max` keeps any run of them in range.
std::optional<int> ReadPrefixLength(std::string_view text, int max) {
  if (text.empty()) return std::nullopt;
  int length = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    length = length * 10 + (c - '0');
    if (length > max) return std::nullopt;
  }
  return length;
}

/// Returns what Kubernetes would say about `text`, of which `loose` is the lenient parse.
std::vector<std::string> Problems(const LooseCidr& loose, std::string_view text,
                                  Strictness strictness) {
  if (loose.leading_zeros) return {"must not have leading 0s in IP or prefix length"};
  std::vector<std::string> problems;
  if (loose.v4_mapped) problems.emplace_back("must not have an IPv4-mapped IPv6 address");
  if (loose.host_bits_set) {
    problems.emplace_back("must not have bits set beyond the prefix length");
  }
  if (problems.empty() && strictness == Strictness::kCanonical) {
    const std::string canonical = loose.cidr.ToString();
    if (text != canonical) {
      problems.push_back(fmt::format("must be in canonical form (\"{}\")", canonical));
    }
  }
  return problems;
}

}  // namespace

Cidr::Cidr(Addr addr, int prefix_length)
    : network_(addr.family(), addr.bits() & ~HostMask(Width(addr.family()) - prefix_length)),
      prefix_length_(prefix_length) {
  assert(prefix_length >= 0 && prefix_length <= Width(addr.family()));
}

Addr Cidr::Last() const { return {family(), network_.bits() | HostMask(host_bits())}; }

base::U128 Cidr::Size() const {
  return host_bits() == 128 ? base::kU128Max : base::U128{1} << host_bits();
}

std::string Cidr::SizeText() const {
  if (host_bits() == 128) return "340282366920938463463374607431768211456";
  return base::ToDecimal(Size());
}

bool Cidr::Contains(const Addr& addr) const {
  return addr.family() == family() && (addr.bits() & ~HostMask(host_bits())) == network_.bits();
}

bool Cidr::Contains(const Cidr& other) const {
  return prefix_length_ <= other.prefix_length_ && Contains(other.network_);
}

bool Cidr::Overlaps(const Cidr& other) const {
  // Blocks are powers of two on their own boundaries, so they are nested or disjoint.
  return Contains(other) || other.Contains(*this);
}

std::string Cidr::ToString() const {
  return fmt::format("{}/{}", network_.ToString(), prefix_length_);
}

std::optional<LooseCidr> ParseCidrLoose(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<LooseAddr> loose = ParseAddrLoose(text.substr(0, slash));
  if (!loose) return std::nullopt;

  // The prefix length counts the bits of the address as it was written, so a mapped one is IPv6.
  const Addr written =
      loose->v4_mapped ? Addr(Family::kV6, kMappedNetwork | loose->addr.bits()) : loose->addr;
  const std::string_view prefix = text.substr(slash + 1);
  const std::optional<int> length = ReadPrefixLength(prefix, Width(written.family()));
  if (!length) return std::nullopt;

  const Cidr block(written, *length);
  const bool is_v4_block = loose->v4_mapped && *length >= kMappedPrefixLength;
  return LooseCidr{
      .cidr = is_v4_block ? Cidr(loose->addr, *length - kMappedPrefixLength) : block,
      .leading_zeros = loose->leading_zeros || (prefix.size() > 1 && prefix.front() == '0'),
      .v4_mapped = loose->v4_mapped,
      .host_bits_set = block.First() != written};
}

std::vector<std::string> CidrProblems(std::string_view text, Strictness strictness) {
  const std::optional<LooseCidr> loose = ParseCidrLoose(text);
  if (!loose) return {std::string(kUnreadable)};
  return Problems(*loose, text, strictness);
}

base::Result<Cidr> ParseCidr(std::string_view text, Strictness strictness) {
  const std::optional<LooseCidr> loose = ParseCidrLoose(text);
  if (!loose) return base::Fail(base::Reason::kInvalid, std::string(kUnreadable));
  std::vector<std::string> problems = Problems(*loose, text, strictness);
  if (!problems.empty()) return base::Fail(base::Reason::kInvalid, std::move(problems.front()));
  return loose->cidr;
}

}  // namespace berth::ip
