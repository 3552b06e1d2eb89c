// Reads manifests with the places of what they say: the Services of a file, each with the line and
// column of every value that a rule may speak of, the ranges and records that the file defines, and
// what could not be read. Pure.
//
// A file holds YAML documents or JSON texts, and Lists are opened at any level. Objects of other
// kinds are passed over without parsing where the text shows that they are of no interest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codec/value.h"
#include "codec/yaml_marks.h"

namespace berth::inspect {

/// The largest manifest, and the deepest Lists within Lists, that are read.
inline constexpr size_t kMaxManifestBytes = size_t{100} * 1024 * 1024;
inline constexpr size_t kMaxListDepth = 16;

/// A comment or an annotation that switches rules off:
///
///   nodePort: 30088 # berth-lint: ignore dynamic-band the port is in the contract
struct Ignore {
  size_t line = 0;          ///< Findings of this line are ignored; 0 means all of the Service.
  codec::TextMark at = {};  ///< Where it is written.
  std::string rules = {};   ///< Names of rules, separated by commas, as written.
};
inline constexpr std::string_view kIgnoreAnnotation = "lint.berth.io/ignore";

struct ManifestService {
  codec::Value object = {};
  /// The places of fields that are set ("spec.ports[0].nodePort"), and of the Service ("").
  std::map<std::string, codec::TextMark, std::less<>> marks = {};

  /// Returns the place of a field, or of the nearest field above it.
  codec::TextMark MarkOf(std::string_view field) const;
};

/// A part of a file that could not be read.
struct ManifestFault {
  bool is_template = false;  ///< It is no fault of the file: it has to be rendered first.
  bool is_missing = false;   ///< A folder has no manifest.
  codec::TextMark mark = {};
  std::string message = {};  ///< A sentence without a full stop.
  std::string advice = {};
};

struct Manifest {
  std::string file = {};
  std::vector<ManifestService> services = {};
  std::vector<codec::Value> others = {};  ///< Ranges and records.
  std::vector<ManifestFault> faults = {};
  std::vector<Ignore> ignores = {};  ///< The comments, in the order of the lines.
};

/// Reads the text of a file. Never fails; what cannot be read becomes a fault.
Manifest ReadManifest(std::string file, std::string_view text);

/// Returns whether a text is a placeholder of a template: {{ .Values.port }}, ${PORT}, $(PORT).
bool IsPlaceholder(std::string_view text);

}  // namespace berth::inspect
