// Port ranges: bounds in order, text that reads back, errors that are safe to print.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ip/port_range.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

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
  Require(berth::ip::ParsePortRange("\t " + std::string(text) + "\u00a0\n") == range);
  if (!range) {
    const std::string& message = range.error().message;
    Require(!message.empty());
    if (message.starts_with("strconv.Atoi: ")) Require(!HasControl(message));
    return 0;
  }
  Require(range->first() <= range->last());
  Require(range->Contains(range->first()) && range->Contains(range->last()));
  Require(range->Size() == 1u + range->last() - range->first());
  Require(berth::ip::ParsePortRange(range->ToString()) == *range);
  return 0;
}
