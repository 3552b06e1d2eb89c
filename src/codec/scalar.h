// What the JSON and YAML writers share. For use inside codec.
#pragma once

#include <array>
#include <charconv>
#include <concepts>
#include <string>

#include "codec/value.h"

namespace berth::codec {

/// Appends null, true, false or a number. Appends nothing for a string, an array or an object.
void AppendPlainScalar(std::string& out, const Value& value);

/// Appends the decimal digits.
void AppendInteger(std::string& out, std::integral auto number) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

}  // namespace berth::codec
