// A CIDR block ("10.96.0.0/16", "fd00:10:96::/112"), parsed and written exactly as Kubernetes does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/uint128.h"
#include "ip/addr.h"

namespace berth::ip {

/// Blocks are always canonical: the network address has no bits set beyond the prefix length.
class Cidr {
 public:
  /// Makes the block of `prefix_length` bits that contains `addr`. The length must fit the family.
  Cidr(Addr addr, int prefix_length);

  Family family() const { return network_.family(); }
  int prefix_length() const { return prefix_length_; }
  int host_bits() const { return Width(family()) - prefix_length_; }

  Addr First() const { return network_; }  ///< The network address.
  Addr Last() const;

  /// Returns the number of addresses, 2^host_bits. Only the size of ::/0 does not fit 128 bits:
  /// Size returns 2^128 - 1 for it, and SizeText is exact.
  base::U128 Size() const;
  std::string SizeText() const;

  bool Contains(const Addr& addr) const;
  bool Contains(const Cidr& other) const;
  bool Overlaps(const Cidr& other) const;

  std::string ToString() const;

  bool operator==(const Cidr&) const = default;

 private:
  Addr network_;
  int prefix_length_;
};

/// The result of a lenient parse, with host bits cut off, and what a strict one would object to.
struct LooseCidr {
  Cidr cidr;
  bool leading_zeros = false;
  bool v4_mapped = false;
  bool host_bits_set = false;
};

/// Returns nullopt if `text` is not a block at all. kube-apiserver parses its flags like this.
std::optional<LooseCidr> ParseCidrLoose(std::string_view text);

/// Returns all that Kubernetes would say about the text in a field, in its
/// order. Empty if the text is valid.
std::vector<std::string> CidrProblems(std::string_view text,
                                      Strictness strictness = Strictness::kCanonical);

/// Returns the block, or the first of its problems.
base::Result<Cidr> ParseCidr(std::string_view text, Strictness strictness = Strictness::kCanonical);

}  // namespace berth::ip
