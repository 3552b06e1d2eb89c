#include "codec/yaml_documents.h"

#include <algorithm>

namespace berth::codec {
namespace {

/// Returns whether the text has a directive, and otherwise only comments and blank lines.
bool HasOnlyDirectives(std::string_view text) {
  bool any = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos || line[first] == '#') continue;
    if (line.front() != '%') return false;
    any = true;
  }
  return any;
}

}  // namespace

std::vector<YamlPiece> SplitYaml(std::string_view text) {
  std::vector<YamlPiece> pieces;
  size_t begin = 0;
  size_t begin_line = 1;
  size_t line_number = 1;
  for (size_t line = 0; line < text.size(); ++line_number) {
    const bool cuts = line > begin && text.substr(line).starts_with("---");
    if (cuts && !HasOnlyDirectives(text.substr(begin, line - begin))) {
      pieces.push_back({.text = text.substr(begin, line - begin), .line = begin_line});
      begin = line;
      begin_line = line_number;
    }
    line = std::min(text.find('\n', line), text.size() - 1) + 1;
  }
  pieces.push_back({.text = text.substr(begin), .line = begin_line});
  return pieces;
}

}  // namespace berth::codec
