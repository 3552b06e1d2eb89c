// Parses decimal names: exactly the texts of numbers up to 2^128 - 1 are names, each of one
// address.
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "ip/addr.h"

namespace {

constexpr std::string_view kLast = "340282366920938463463374607431768211455";

/// Decides without arithmetic: numbers of equal length are ordered as their texts are.
bool IsName(std::string_view text) {
  if (text.empty() || text.find_first_not_of("0123456789") != std::string_view::npos) return false;
  if (text.size() > 1 && text.front() == '0') return false;
  return text.size() < kLast.size() || (text.size() == kLast.size() && text <= kLast);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::ip::Family;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto addr = berth::ip::ParseDecimalName(text);
  fuzz::Require(addr.has_value() == IsName(text));
  if (!addr) {
    fuzz::Require(!addr.error().message.empty());
    return 0;
  }
  fuzz::Require((addr->family() == Family::kV4) == (addr->bits() >> 32 == 0));
  fuzz::Require(addr->DecimalName() == text);
  const auto loose = berth::ip::ParseAddrLoose(addr->ToString());
  fuzz::Require(loose && loose->addr.bits() ==
                             (loose->v4_mapped ? addr->bits() & 0xFFFFFFFF : addr->bits()));
  return 0;
}
