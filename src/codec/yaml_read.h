// YAML text to Values, as the Kubernetes API server takes it: YAML 1.1 as Go's reader resolves it.
//
// Plain scalars: yes, no, on, off, y, n and their upper-case forms are booleans; integers may be
// octal (017, 0o17), hexadecimal and binary and hold underscores; a float without a fraction counts
// as an integer; times and sexagesimals stay strings; infinities and NaN, which JSON lacks, are
// errors. Keys that are numbers or booleans become strings. Of a key given twice the last counts.
//
// Bounded: size and depth as JSON, and with all aliases followed the document may not be larger
// than the limit on size either. Merge keys (<<), tags beyond the usual and a second document are
// refused. A pure function, safe from any thread; an Error is always kBadRequest.
#pragma once

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
  size_t line = 0;  // Of its value, counted from 1.

  bool operator==(const DuplicateKey&) const = default;
};

struct YamlDocument {
  Value value;                           // Null for an empty text.
  std::vector<DuplicateKey> duplicates;  // In the order of the text; at most 100.
};

base::Result<YamlDocument> ParseYaml(std::string_view text, const JsonLimits& limits = {});

}  // namespace berth::codec
