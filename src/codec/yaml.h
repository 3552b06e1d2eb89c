// Writes Values as YAML in kubectl's layout.
//
// kubectl's parser and any YAML 1.2 parser read the text back as an equal Value. YAML 1.1 parsers
// read at least its strings as strings. Bytes that are not UTF-8 become U+FFFD. A pure function,
// safe from any thread; writing never fails.
#pragma once

#include <cstdint>
#include <string>

#include "codec/value.h"

namespace berth::codec {

enum class YamlOrder : uint8_t {
  kByKey,  // As the API server writes its answers.
  kAsGiven,
};

/// Uses block style. Sequences are not indented under their key, and long lines are folded at a
/// space. Strings are plain if they read back as the same string. Otherwise they are double-quoted
/// if a parser would read them as something else ("true", "10", "1:30"), single-quoted if only
/// their punctuation is the problem ('*', 'a: b'), and a literal block if they have several lines.
std::string WriteYaml(const Value& value, YamlOrder order = YamlOrder::kByKey);

}  // namespace berth::codec
