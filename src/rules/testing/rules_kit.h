// Helpers for the tests of the rules.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "codec/testing_text.h"
#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

using codec::Json;

/// Returns each error as it appears in a message.
inline std::vector<std::string> Lines(const FieldErrors& errors) {
  std::vector<std::string> lines;
  for (const FieldError& error : errors) lines.push_back(error.ToString());
  return lines;
}

}  // namespace berth::rules
