// Helpers for the tests of the rules.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "codec/json.h"
#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// An object written down as JSON, with ' for ".
inline codec::Value Json(std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  auto value = codec::ParseJson(text);
  EXPECT_TRUE(value.has_value()) << text;
  return value.value_or(codec::Value());
}

/// Each error as it stands in a message.
inline std::vector<std::string> Lines(const FieldErrors& errors) {
  std::vector<std::string> lines;
  for (const FieldError& error : errors) lines.push_back(error.ToString());
  return lines;
}

}  // namespace berth::rules
