// Parses addresses: the parsers agree with each other, with the printed text and with the C
// library.
#include <arpa/inet.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "ip/addr.h"

namespace {

using berth::ip::Addr;
using berth::ip::Family;
using berth::ip::LooseAddr;
using berth::ip::Strictness;

void CheckReadsBack(const Addr& addr) {
  fuzz::Require(addr.family() == Family::kV6 || addr.bits() >> 32 == 0);
  const std::optional<LooseAddr> again = berth::ip::ParseAddrLoose(addr.ToString());
  fuzz::Require(again && again->addr == addr && !again->leading_zeros && !again->v4_mapped);
  fuzz::Require(berth::ip::ParseAddr(addr.ToString()) == addr);
}

/// Returns whether inet_pton accepts the text. It is as strict about leading zeros as the strict
/// parser.
bool SystemReads(const std::string& text) {
  std::array<unsigned char, 16> bytes;
  if (text.find('\0') != std::string::npos) return false;
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::optional<LooseAddr> loose = berth::ip::ParseAddrLoose(text);
  const auto legacy = berth::ip::ParseAddr(text, Strictness::kLegacyField);
  const auto canonical = berth::ip::ParseAddr(text);

  fuzz::Require(SystemReads(std::string(text)) == (loose && !loose->leading_zeros));
  fuzz::Require(legacy.has_value() == (loose && !loose->leading_zeros && !loose->v4_mapped));
  fuzz::Require(canonical.has_value() == (legacy && legacy->ToString() == text));
  if (loose) CheckReadsBack(loose->addr);
  if (legacy) fuzz::Require(*legacy == loose->addr);
  if (canonical) fuzz::Require(*canonical == loose->addr);
  return 0;
}
