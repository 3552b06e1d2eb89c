// Finds the documents of a YAML stream without parsing them. Pure.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace berth::codec {

/// One document of a stream.
struct YamlPiece {
  std::string_view text;  // With the line "---" that begins it, if it has one.
  size_t line = 1;        // The line of the stream where it begins, counted from 1.
};

/// Cuts a stream at each line that begins with "---", as kubectl does. There is always at least one
/// piece, and a piece may have no content. Directives (%YAML) stay with the document after them.
std::vector<YamlPiece> SplitYaml(std::string_view text);

}  // namespace berth::codec
