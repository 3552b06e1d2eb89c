// Helpers for tests only.
#pragma once

#include <rapidcheck.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/base_kit.h"
#include "codec/value.h"

namespace berth::codec {

/// Generates valid UTF-8 from pieces that writers and parsers often get
/// wrong. Only inside a property.
inline std::string ArbitraryText() {
  static const std::vector<std::string> pieces = {
      "a",  "n",      "y",      "0",      "1",   "9",  "x",    "e",      "T",
      "Z",  " ",      "  ",     "\n",     "\r",  "\t", ":",    ": ",     "-",
      "- ", "#",      " #",     "?",      ",",   "[",  "}",    "'",      "\"",
      "\\", "|",      ">",      "%",      "@",   "!",  "&",    "*",      "~",
      ".",  "_",      "+",      "=",      "<<",  "é",  "€",    "😀",     "\b",
      "/",  "\u0085", "\u2028", "\uFEFF", "---", "..", "\x7f", "\u00a0", std::string(1, '\0')};
  const auto picks = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(pieces));
  std::string text;
  for (const std::string& piece : picks) text += piece;
  return text;
}

/// Picks one of 0 to `choices` - 1, equally likely. rapidcheck alone would favour the low ones.
inline int Pick(int choices) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(0, choices));
}

inline Value ArbitraryScalar() {
  switch (Pick(7)) {
    case 0:
      return nullptr;
    case 1:
      return Pick(2) == 1;
    case 2:
      return *rc::gen::arbitrary<int64_t>();
    case 3:
      return std::numeric_limits<uint64_t>::max() - *rc::gen::arbitrary<uint32_t>();
    case 4:
      // The exponent is picked too, since rapidcheck's own doubles all have a medium size.
      return std::ldexp(*rc::gen::arbitrary<double>(), Pick(2100) - 1100);
    default:
      return ArbitraryText();
  }
}

/// Generates any document with at most `depth` levels. Only inside a property.
inline Value ArbitraryValue(int depth) {
  const int kind = depth > 0 ? Pick(3) : 0;
  if (kind == 0) return ArbitraryScalar();
  const int size = Pick(5);
  Value value = kind == 1 ? Value(Array()) : Value(Object());
  for (int i = 0; i < size; ++i) {
    if (kind == 1) {
      value.Append(ArbitraryValue(depth - 1));
    } else {
      value.Set(ArbitraryText(), ArbitraryValue(depth - 1));
    }
  }
  return value;
}

/// Returns how often one case of a property draws. rapidcheck itself runs a hundred cases.
inline int64_t DrawsPerCase() { return base::LongCount(100); }

/// Returns nested arrays.
inline Value Nested(size_t depth) {
  Value value = Array();
  for (size_t i = 1; i < depth; ++i) {
    Array outer;
    outer.push_back(std::move(value));
    value = std::move(outer);
  }
  return value;
}

}  // namespace berth::codec
