// However a text is cut into parts, its items are the same. Each item lies in the text, and begins
// and ends with a bracket.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/json_items.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  std::vector<std::string> whole;
  const bool good = berth::codec::ForEachJsonItem(text, [&](std::string_view item) {
                      fuzz::Require(!item.empty());
                      fuzz::Require(item.front() == '{' || item.front() == '[');
                      fuzz::Require(item.back() == '}' || item.back() == ']');
                      whole.emplace_back(item);
                      return true;
                    }).has_value();
  const size_t part = size_t{data[0]} % 16 + 1;
  std::vector<std::string> cut;
  berth::codec::JsonItemScanner scanner([&cut](std::string_view item) {
    cut.emplace_back(item);
    return true;
  });
  std::string buffer;
  bool cut_good = true;
  for (size_t at = 0; at < text.size() && cut_good; at += part) {
    buffer += text.substr(at, part);
    const auto done = scanner.Scan(buffer);
    cut_good = done.has_value();
    if (done) buffer.erase(0, *done);
  }
  cut_good = cut_good && scanner.Finish().has_value();
  fuzz::Require(cut_good == good);
  fuzz::Require(cut == whole);
  return 0;
}
