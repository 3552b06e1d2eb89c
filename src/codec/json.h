// Parses and writes JSON text.
//
// The parser accepts exactly RFC 8259 in UTF-8, with two limits to protect it. Of duplicate keys
// the last value counts, as in Go. An integer that fits neither int64 nor uint64, and a number
// beyond double, is an error. Writing never fails, and the text reads back as an equal Value,
// except that bytes which are not UTF-8 become U+FFFD. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

/// The largest depth limit. A higher one has no effect, because code that works on a
/// Value recurses once per level.
inline constexpr size_t kDeepestAllowed = 1024;

struct JsonLimits {
  size_t bytes = size_t{3} * 1024 * 1024;  // What kube-apiserver accepts in one request.
  size_t depth = 256;                      // Levels of nested arrays and objects.
};

/// Parses a document. An Error is always kBadRequest. Its message says what is wrong and, where
/// that is known, at which byte (counted from 0).
base::Result<Value> ParseJson(std::string_view text, const JsonLimits& limits = {});

struct JsonStyle {
  int indent = 0;  // Spaces per level; 0 means one line.
};

/// With an indent, the layout is that of kubectl, without a newline at the end.
std::string WriteJson(const Value& value, JsonStyle style = {});

}  // namespace berth::codec
