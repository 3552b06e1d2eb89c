// Parses CIDR blocks: no prefix is out of bounds, and the block is the one that the text names.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/require.h"
#include "ip/cidr.h"

namespace {

using berth::ip::Cidr;
using berth::ip::LooseCidr;
using berth::ip::Strictness;

void CheckBlock(const Cidr& cidr) {
  fuzz::Require(cidr.prefix_length() >= 0 && cidr.prefix_length() <= Width(cidr.family()));
  fuzz::Require(cidr.First() <= cidr.Last());
  fuzz::Require(cidr.Contains(cidr.First()) && cidr.Contains(cidr.Last()) && cidr.Contains(cidr));
  fuzz::Require(Cidr(cidr.Last(), cidr.prefix_length()) == cidr);
  fuzz::Require(berth::ip::ParseCidr(cidr.ToString()) == cidr);
}

/// Requires that the address before the slash lies in the block, unless it is mapped and the block
/// IPv6.
void CheckWrittenAddress(const LooseCidr& loose, std::string_view text) {
  const auto addr = berth::ip::ParseAddrLoose(text.substr(0, text.find('/')));
  fuzz::Require(addr && addr->v4_mapped == loose.v4_mapped);
  if (addr->addr.family() != loose.cidr.family()) {
    fuzz::Require(loose.v4_mapped && loose.cidr.prefix_length() < 96);
    return;
  }
  fuzz::Require(loose.cidr.Contains(addr->addr));
  fuzz::Require(loose.host_bits_set == (addr->addr != loose.cidr.First()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<LooseCidr> loose = berth::ip::ParseCidrLoose(text);
  if (loose) {
    CheckBlock(loose->cidr);
    CheckWrittenAddress(*loose, text);
  }
  for (const Strictness strictness : {Strictness::kLegacyField, Strictness::kCanonical}) {
    const std::vector<std::string> problems = berth::ip::CidrProblems(text, strictness);
    const auto cidr = berth::ip::ParseCidr(text, strictness);
    fuzz::Require(cidr.has_value() == problems.empty());
    fuzz::Require(problems.size() <= 2);
    if (!cidr) {
      fuzz::Require(cidr.error().message == problems.front());
      continue;
    }
    fuzz::Require(loose && *cidr == loose->cidr);
    if (strictness == Strictness::kCanonical) fuzz::Require(cidr->ToString() == text);
  }
  return 0;
}
