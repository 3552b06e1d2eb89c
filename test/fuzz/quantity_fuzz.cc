// The canonical text of an amount must be parsed again, mean the same, and stay as it is from then
// on. A text with a binary unit whose amount fits none, such as "187.5Ki", becomes the plain number
// 192000. Kubernetes prints that number too, and reads it back as the decimal amount "192k". So a
// text may change once more, but not twice.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/quantity.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto quantity = berth::codec::ParseQuantity(text);
  if (!quantity) return 0;
  const auto again = berth::codec::ParseQuantity(quantity->text);
  fuzz::Require(again.has_value());
  fuzz::Require(again->negative == quantity->negative && again->whole == quantity->whole);
  const auto last = berth::codec::ParseQuantity(again->text);
  fuzz::Require(last && last->text == again->text);
  const bool only_digits = quantity->text.find_first_not_of("-0123456789") == std::string::npos;
  fuzz::Require(only_digits || again->text == quantity->text);
  return 0;
}
