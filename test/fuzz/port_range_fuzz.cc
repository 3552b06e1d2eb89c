// Parses port ranges: bounds are in order, the text parses to the same range, and errors are safe
// to print.
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "ip/port_range.h"

namespace {

bool HasControl(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') return true;
  }
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto range = berth::ip::ParsePortRange(text);
  fuzz::Require(berth::ip::ParsePortRange("\t " + std::string(text) + "\u00a0\n") == range);
  if (!range) {
    const std::string& message = range.error().message;
    fuzz::Require(!message.empty());
    if (message.starts_with("strconv.Atoi: ")) fuzz::Require(!HasControl(message));
    return 0;
  }
  fuzz::Require(range->first() <= range->last());
  fuzz::Require(range->Contains(range->first()) && range->Contains(range->last()));
  fuzz::Require(range->Size() == 1u + range->last() - range->first());
  fuzz::Require(berth::ip::ParsePortRange(range->ToString()) == *range);
  return 0;
}
