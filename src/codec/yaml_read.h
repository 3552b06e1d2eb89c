// Parses YAML text as the Kubernetes API server does: YAML 1.1 with the rules of Go's parser.
//
// Plain scalars: yes, no, on, off, y, n and their upper-case forms are booleans. Integers may
// be octal (017, 0o17), hexadecimal or binary, and may contain underscores. A float without a
// fraction counts as an integer. Times and sexagesimals stay strings. Infinities and NaN, which
// JSON does not have, are errors. Keys that are numbers or booleans become strings. Of
// duplicate keys the last one counts.
//
// Limits: size and depth are bounded as for JSON, and so is the size of the document with all
// aliases expanded. Unusual tags and a second document are refused, and so are merge keys (<<)
// unless the caller wants them. A pure function, safe from any thread. An Error is always
// kBadRequest.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/json.h"
#include "codec/value.h"

namespace berth::codec {

struct DuplicateKey {
  std::string path;  // "spec.ports[0].name"
  std::string key;
  size_t line = 0;  // Line of its value, counted from 1.

  bool operator==(const DuplicateKey&) const = default;
};

struct YamlDocument {
  Value value;                           // Null for an empty text.
  std::vector<DuplicateKey> duplicates;  // In the order of the text; at most 100.
};

/// What to do with merge keys. Where they are followed, a mapping has the keys of the mappings that
/// `<<` names too, unless it has them itself; of several mappings the first one counts.
enum class MergeKeys : uint8_t { kRefuse, kFollow };

base::Result<YamlDocument> ParseYaml(std::string_view text, const JsonLimits& limits = {},
                                     MergeKeys merge_keys = MergeKeys::kRefuse);

}  // namespace berth::codec
