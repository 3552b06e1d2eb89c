// Finds where in a YAML text the values of given paths are. A caller that needs positions parses
// the text as usual and then asks for the few that it wants to show, so that parsing does not pay
// for them. JSON texts work too, because JSON is YAML. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::codec {

/// A position in a text. Both numbers count from 1, and columns are characters.
struct TextMark {
  size_t line = 1;
  size_t column = 1;

  bool operator==(const TextMark&) const = default;
};

/// Returns the place of each path ("spec.ports[0].nodePort") in the first document of the text. If
/// the document has no such value, it is the place of the nearest value above it. A value inside an
/// alias is where the alias is. Of duplicate keys the last one counts. Keys with a dot or a bracket
/// cannot be asked for. After a fault in the text, the places found before it count.
std::vector<TextMark> LocateYaml(std::string_view text, std::span<const std::string> paths);

struct YamlFault {
  TextMark mark = {};
  std::string problem = {};  // In libyaml's words.

  bool operator==(const YamlFault&) const = default;
};

/// Returns the first fault of syntax, or nullopt if the text is well-formed YAML.
std::optional<YamlFault> FindYamlFault(std::string_view text);

}  // namespace berth::codec
