#include "state/wire_text.h"

#include <cstring>
#include <optional>

namespace berth::state {
namespace {

/// Finds the value in `"member":"value"`, all of which must be between `from` and `to`. Returns
/// nullopt if it is not there.
std::optional<OwnParts::Part> FindValue(std::string_view text, size_t from, size_t to,
                                        std::string_view member) {
  const std::string before = std::string("\"").append(member).append("\":\"");
  const std::string_view part = text.substr(0, to);
  // The C library's search is several times faster than that of std::string_view.
  const std::string_view rest = part.substr(from);
  const void* const found = memmem(rest.data(), rest.size(), before.data(), before.size());
  if (found == nullptr) return std::nullopt;
  const size_t begin =
      static_cast<size_t>(static_cast<const char*>(found) - text.data()) + before.size();
  size_t end = begin;
  while (end < part.size() && part[end] != '"') end += part[end] == '\\' ? 2 : 1;
  if (end >= part.size()) return std::nullopt;
  return OwnParts::Part{.at = static_cast<uint32_t>(begin),
                        .size = static_cast<uint32_t>(end - begin)};
}

}  // namespace

void MarkOwn(WireText& wire, std::span<const std::string_view> members) {
  const std::string_view text = wire.text;
  const size_t managed_end = wire.managed_at + wire.managed_size;
  wire.own.count = 0;
  size_t from = wire.metadata_at;
  for (const std::string_view member : members) {
    if (wire.own.count == OwnParts::kMost) return;
    std::optional<OwnParts::Part> found;
    if (wire.managed_size > 0 && from < wire.managed_at) {
      found = FindValue(text, from, wire.managed_at, member);
      if (!found) found = FindValue(text, managed_end, text.size(), member);
    } else {
      found = FindValue(text, from, text.size(), member);
    }
    if (!found) continue;
    wire.own.parts[wire.own.count++] = *found;
    from = found->at + found->size;
  }
}

}  // namespace berth::state
