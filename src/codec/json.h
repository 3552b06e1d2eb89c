// JSON text to and from Values.
//
// Reading accepts exactly RFC 8259 in UTF-8, with two limits for the sake of the reader. Of a key
// given twice the last value counts, as in Go. An integer that fits neither int64 nor uint64, and
// a number beyond double, is an error. Writing never fails and reads back as an equal Value, but
// that bytes which are not UTF-8 become U+FFFD. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

/// No limit on depth above this one is honoured: working on a Value recurses once per level.
inline constexpr size_t kDeepestAllowed = 1024;

struct JsonLimits {
  size_t bytes = size_t{3} * 1024 * 1024;  // What a Kubernetes API server takes in one request.
  size_t depth = 256;                      // Arrays and objects inside each other.
};

/// An Error is always kBadRequest. Its message says what is wrong, and at which byte (counted from
/// 0) where that can be told.
base::Result<Value> ParseJson(std::string_view text, const JsonLimits& limits = {});

struct JsonStyle {
  int indent = 0;  // Spaces per level; 0 is everything on one line.
};

/// With an indent, laid out as kubectl does it, without a newline at the end.
std::string WriteJson(const Value& value, JsonStyle style = {});

}  // namespace berth::codec
