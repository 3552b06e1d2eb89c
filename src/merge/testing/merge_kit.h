// Helpers for the tests of managed fields and apply.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/read.h"
#include "codec/testing_text.h"
#include "merge/managed_fields.h"

namespace berth::merge {

/// Returns a time that many seconds after a fixed moment.
inline base::WallTime At(int seconds) {
  return base::WallTime(std::chrono::seconds(1800000000 + seconds));
}

using codec::Json;

/// Returns a canonical object from the same notation.
inline codec::Value ObjectOf(const std::string& text, const api::Kind& kind = api::kServiceKind) {
  auto decoded = codec::DecodeValue(Json(text), *kind.message);
  EXPECT_TRUE(decoded.has_value()) << text;
  return decoded ? std::move(decoded->object) : codec::Value(codec::Object());
}

/// Returns a line for each entry of managedFields, with ' for ": `Update one v1 @0 {'f:spec':{}}`.
/// Times are in seconds since At(0).
inline std::vector<std::string> Owners(const codec::Value& object) {
  std::vector<std::string> lines;
  for (const codec::Value& entry : codec::ArrayAt(object, "metadata", "managedFields")) {
    EXPECT_EQ(codec::StringAt(entry, "fieldsType"), "FieldsV1");
    const std::string_view time = codec::StringAt(entry, "time");
    std::string line =
        fmt::format("{} {} {}", codec::StringAt(entry, "operation"),
                    codec::StringAt(entry, "manager"), codec::StringAt(entry, "apiVersion"));
    const std::string_view subresource = codec::StringAt(entry, "subresource");
    if (!subresource.empty()) line += fmt::format("/{}", subresource);
    if (!time.empty()) {
      // At(0) is 08:00:00.
      line += fmt::format(" @{}", (time[15] - '0') * 60 + (time[17] - '0') * 10 + (time[18] - '0'));
    }
    line += fmt::format(" {}", codec::StringAt(entry, "fieldsV1"));
    for (char& c : line) {
      if (c == '"') c = '\'';
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace berth::merge
