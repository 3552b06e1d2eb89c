#include "store/etcd/note.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>

#include "base/go_text.h"

namespace berth::store::etcd {
namespace {

constexpr size_t kMaxNote = 8192;

std::optional<int64_t> ParseNoted(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::string NoteText(const Note& note) {
  return fmt::format(
      "prefix={}\nrevisionBase={}\nrevision={}\nwitnessRevision={}\nwitnessKey={}\n"
      "witnessValue={}\n",
      note.prefix, note.base.value, note.revision.value, note.witness.mod, note.witness.key,
      note.witness.value);
}

base::Result<Note> ParseNote(std::string_view text) {
  const auto bad = [](std::string message) {
    return base::Fail(base::Reason::kInvalid, std::move(message));
  };
  if (text.size() > kMaxNote) return bad(fmt::format("it has {} bytes", text.size()));
  std::map<std::string_view, std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const size_t equals = std::min(line.find('='), line.size());
    lines[line.substr(0, equals)] = line.substr(std::min(equals + 1, line.size()));
  }
  Note note;
  for (const auto& [name, field] :
       {std::pair("prefix", &note.prefix), std::pair("witnessKey", &note.witness.key),
        std::pair("witnessValue", &note.witness.value)}) {
    if (!lines.contains(name)) return bad(fmt::format("it has no line {}=", name));
    *field = lines[name];
  }
  for (const auto& [name, field] :
       {std::pair("revisionBase", &note.base.value), std::pair("revision", &note.revision.value),
        std::pair("witnessRevision", &note.witness.mod)}) {
    const auto value = lines.contains(name) ? ParseNoted(lines[name]) : std::nullopt;
    if (!value) return bad(fmt::format("its {} is not a revision", name));
    *field = *value;
  }
  return note;
}

}  // namespace berth::store::etcd
