// Short notations for documents and bytes. For tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "codec/json.h"
#include "codec/value.h"

namespace berth::codec {

/// Parses JSON that is written with ' in place of ".
inline Value Json(std::string_view short_text) {
  std::string text(short_text);
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  auto value = ParseJson(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(Value());
}

/// Converts hexadecimal digits to bytes. 'Text' in single quotes between them is copied.
inline std::string Bytes(std::string_view text) {
  std::string bytes;
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ' ') continue;
    if (text[i] == '\'') {
      const size_t end = text.find('\'', i + 1);
      bytes += text.substr(i + 1, end - i - 1);
      i = end;
      continue;
    }
    bytes += static_cast<char>(digit(text[i]) * 16 + digit(text[i + 1]));
    ++i;
  }
  return bytes;
}

}  // namespace berth::codec
