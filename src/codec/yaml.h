// Values as YAML, laid out as kubectl does it.
//
// The text reads back as an equal Value with kubectl's reader and any for YAML 1.2, and its strings
// as strings with those for YAML 1.1 too; but bytes which are not UTF-8 become U+FFFD. A pure
// function, safe from any thread; writing never fails.
#pragma once

#include <cstdint>
#include <string>

#include "codec/value.h"

namespace berth::codec {

enum class YamlOrder : uint8_t {
  kByKey,  // As the API server writes its answers.
  kAsGiven,
};

/// Block style; sequences are not indented under their key; long lines are folded at a space.
/// Strings are plain where they read back as the same string. Otherwise they are double-quoted if a
/// reader would take them for something else ("true", "10", "1:30"), single-quoted if only their
/// punctuation is in the way ('*', 'a: b'), and a literal block if they have several lines.
std::string WriteYaml(const Value& value, YamlOrder order = YamlOrder::kByKey);

}  // namespace berth::codec
