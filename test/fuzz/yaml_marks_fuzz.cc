// LocateYaml finds a place inside the text for every path, whatever the text is. The documents that
// SplitYaml finds are the whole text. FindYamlFault finds no fault in a text that ParseYaml
// accepts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/yaml_documents.h"
#include "codec/yaml_marks.h"
#include "codec/yaml_read.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace codec = berth::codec;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> paths = {
      "spec.ports[0].nodePort", "spec.clusterIPs[1]", "metadata.name", "items[2].spec", "a", ""};
  size_t covered = 0;
  for (const codec::YamlPiece& piece : codec::SplitYaml(text)) {
    fuzz::Require(piece.text.data() == text.data() + covered);
    const auto breaks = std::ranges::count(text.substr(0, covered), '\n');
    fuzz::Require(piece.line == static_cast<size_t>(breaks) + 1);
    covered += piece.text.size();
    const std::vector<codec::TextMark> marks = codec::LocateYaml(piece.text, paths);
    fuzz::Require(marks.size() == paths.size());
    for (const codec::TextMark& mark : marks) {
      fuzz::Require(mark.line >= 1 && mark.column >= 1);
      fuzz::Require(mark.line <= piece.text.size() + 1 && mark.column <= piece.text.size() + 1);
    }
    if (codec::ParseYaml(piece.text, {.bytes = 100'000, .depth = 50})) {
      fuzz::Require(!codec::FindYamlFault(piece.text));
    }
  }
  fuzz::Require(covered == text.size());
  return 0;
}
