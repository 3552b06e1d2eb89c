// A CIDR block ("10.96.0.0/16", "fd00:10:96::/112"): read and written exactly as Kubernetes does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/uint128.h"
#include "ip/addr.h"

namespace berth::ip {

/// Always canonical: the network address has no bits set beyond the prefix length.
class Cidr {
 public:
  /// The block of `prefix_length` bits that contains `addr`. The length must fit the family.
  Cidr(Addr addr, int prefix_length);

  Family family() const { return network_.family(); }
  int prefix_length() const { return prefix_length_; }
  int host_bits() const { return Width(family()) - prefix_length_; }

  Addr First() const { return network_; }  ///< the network address
  Addr Last() const;

  /// Number of addresses: 2^host_bits. The one size that 128 bits cannot hold, ::/0, reads as
  /// 2^128 - 1; SizeText is exact for it too.
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

/// A lenient reading (host bits cut off) and what a strict one would object to.
struct LooseCidr {
  Cidr cidr;
  bool leading_zeros = false;
  bool v4_mapped = false;
  bool host_bits_set = false;
};

/// Nothing when no reading is possible. This is how kube-apiserver reads its flags.
std::optional<LooseCidr> ParseCidrLoose(std::string_view text);

/// Everything Kubernetes would say about the text in a field, in its order; empty when it is fine.
std::vector<std::string> CidrProblems(std::string_view text,
                                      Strictness strictness = Strictness::kCanonical);

/// The block, or the first of its problems.
base::Result<Cidr> ParseCidr(std::string_view text, Strictness strictness = Strictness::kCanonical);

}  // namespace berth::ip
