#include "rules/record_notes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "base/packed_uuid.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "rules/range_spec.h"

namespace berth::rules {
namespace {

// A hidden text consists of lines, one for each annotation: `name=value`, or a bare `static` or
// `dynamic` for `chosen`, or `#` and the 16 bytes of a packed `uid`. The notes named here come
// first and in this order, so the state comes before everything else.
constexpr std::string_view kStateNote = "state";
constexpr std::string_view kChosenNote = "chosen";
constexpr std::string_view kRangeNote = "range";
constexpr std::string_view kUidNote = "uid";
constexpr std::string_view kReservedForNote = "reserved-for";
constexpr std::string_view kHoldSecondsNote = "hold-seconds";
constexpr std::string_view kSinceNote = "since";
constexpr std::string_view kUntilNote = "until";
constexpr std::array<std::string_view, 8> kNoteNames = {
    kStateNote,       kChosenNote,      kRangeNote, kUidNote,
    kReservedForNote, kHoldSecondsNote, kSinceNote, kUntilNote};

constexpr char kPackedUid = '#';

constexpr std::string_view kStatic = "static";
constexpr std::string_view kDynamic = "dynamic";

struct Note {
  std::string name;
  std::string value;
};

bool IsInternal(const codec::Member& annotation) {
  return std::string_view(annotation.key).starts_with(kInternalPrefix);
}

/// Appends text with the separators of notes escaped.
void AppendEscaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\b";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '=') {
      out += "\\e";
    } else {
      out += c;
    }
  }
}

std::string UnescapedNote(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    ++i;
    out += text[i] == 'b' ? '\\' : text[i] == 'n' ? '\n' : '=';
  }
  return out;
}

void AppendNote(std::string& hidden, std::string_view name, std::string_view value) {
  if (!hidden.empty()) hidden += '\n';
  if (name == kChosenNote && (value == kStatic || value == kDynamic)) {
    hidden += value;
    return;
  }
  if (name == kUidNote) {
    if (const auto packed = base::PackUuid(value)) {
      hidden += kPackedUid;
      AppendEscaped(hidden, {packed->data(), packed->size()});
      return;
    }
  }
  AppendEscaped(hidden, name);
  hidden += '=';
  AppendEscaped(hidden, value);
}

std::string_view TakeLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

/// Returns the note of a line that begins with kPackedUid.
Note UidNoteOf(std::string_view line) {
  Note note{std::string(kUidNote), {}};
  const std::string bytes = UnescapedNote(line.substr(1));
  base::PackedUuid packed;
  if (bytes.size() != packed.size()) return note;
  std::ranges::copy(bytes, packed.begin());
  base::AppendUuid(note.value, packed);
  return note;
}

Note NoteOf(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) {
    return line.starts_with(kPackedUid) ? UidNoteOf(line)
                                        : Note{std::string(kChosenNote), std::string(line)};
  }
  return {UnescapedNote(line.substr(0, equals)), UnescapedNote(line.substr(equals + 1))};
}

/// Returns the notes in the order of a hidden text.
std::vector<Note> NotesIn(const codec::Value& object) {
  std::vector<Note> notes;
  for (const codec::Member& annotation : ObjectAt(object, "metadata", "annotations")) {
    if (!IsInternal(annotation)) continue;
    notes.push_back({annotation.key.substr(kInternalPrefix.size()),
                     std::string(codec::Text(&annotation.value))});
  }
  std::ranges::stable_sort(notes, {}, [](const Note& note) {
    return std::ranges::find(kNoteNames, std::string_view(note.name)) - kNoteNames.begin();
  });
  return notes;
}

std::string Joined(const std::vector<Note>& notes) {
  std::string hidden;
  for (const Note& note : notes) AppendNote(hidden, note.name, note.value);
  return hidden;
}

/// Returns the value of a note as it is written in the hidden text, or an empty text if there is no
/// such note. Names of objects need no escapes.
std::string_view ValueOfNote(std::string_view hidden, std::string_view name) {
  while (!hidden.empty()) {
    std::string_view line = TakeLine(hidden);
    if (!line.starts_with(name)) continue;
    line.remove_prefix(name.size());
    if (line.starts_with('=')) return line.substr(1);
  }
  return {};
}

int64_t NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

}  // namespace

std::string_view StateText(RecordState state) {
  switch (state) {
    case RecordState::kAllocated:
      return "Allocated";
    case RecordState::kPending:
      return "Pending";
    case RecordState::kFree:
      return "Free";
    case RecordState::kReserved:
      break;
  }
  return "Reserved";
}

RecordState StateOfText(std::string_view text) {
  for (const RecordState state :
       {RecordState::kAllocated, RecordState::kPending, RecordState::kFree}) {
    if (text == StateText(state)) return state;
  }
  return RecordState::kReserved;
}

RecordNotes ReadNotes(const codec::Value& object) { return NotesOfHidden(Joined(NotesIn(object))); }

void WriteNotes(codec::Value& object, const RecordNotes& notes) {
  TakeInternalAnnotations(object);
  PutInternalAnnotations(object, HiddenOf(notes));
}

std::string TakeInternalAnnotations(codec::Value& object) {
  const std::vector<Note> notes = NotesIn(object);
  if (notes.empty()) return {};
  codec::Object* annotations = FindAt(object, "metadata", "annotations")->AsObject();
  annotations->EraseIf(IsInternal);
  if (annotations->empty()) EraseAt(object, {"metadata", "annotations"});
  return Joined(notes);
}

void PutInternalAnnotations(codec::Value& object, std::string_view hidden) {
  while (!hidden.empty()) {
    Note note = NoteOf(TakeLine(hidden));
    note.name.insert(0, kInternalPrefix);
    SetAt(object, {"metadata", "annotations", note.name}, std::move(note.value));
  }
}

RecordNotes NotesOfHidden(std::string_view hidden) {
  RecordNotes notes{.state = StateOfHidden(hidden)};
  while (!hidden.empty()) {
    Note note = NoteOf(TakeLine(hidden));
    if (note.name == kChosenNote) {
      notes.chosen = note.value == kStatic ? ChosenBy::kOwner : ChosenBy::kAllocator;
    } else if (note.name == kRangeNote) {
      notes.range = std::move(note.value);
    } else if (note.name == kUidNote) {
      notes.service_uid = std::move(note.value);
    } else if (note.name == kReservedForNote) {
      notes.reserved_for = std::move(note.value);
    } else if (note.name == kHoldSecondsNote) {
      notes.hold_seconds = NumberOf(note.value);
    } else if (note.name == kSinceNote) {
      notes.since = codec::ParseTime(note.value);
    } else if (note.name == kUntilNote) {
      notes.until = codec::ParseTime(note.value);
    }
  }
  return notes;
}

std::string HiddenOf(const RecordNotes& notes) {
  std::string hidden;
  const bool allocated = notes.state == RecordState::kAllocated;
  if (!allocated) AppendNote(hidden, kStateNote, StateText(notes.state));
  if (allocated || notes.chosen) {
    AppendNote(hidden, kChosenNote, notes.chosen == ChosenBy::kOwner ? kStatic : kDynamic);
  }
  if (!notes.range.empty()) AppendNote(hidden, kRangeNote, notes.range);
  if (!notes.service_uid.empty()) AppendNote(hidden, kUidNote, notes.service_uid);
  if (!notes.reserved_for.empty()) AppendNote(hidden, kReservedForNote, notes.reserved_for);
  if (notes.hold_seconds != 0) {
    AppendNote(hidden, kHoldSecondsNote, std::to_string(notes.hold_seconds));
  }
  if (notes.since) AppendNote(hidden, kSinceNote, codec::FormatTime(*notes.since));
  if (notes.until) AppendNote(hidden, kUntilNote, codec::FormatTime(*notes.until));
  return hidden;
}

RecordState StateOfHidden(std::string_view hidden) {
  if (hidden.empty()) return RecordState::kReserved;
  const std::string_view first = TakeLine(hidden);
  const size_t equals = first.find('=');
  if (equals == std::string_view::npos) {
    return first.starts_with(kPackedUid) ? RecordState::kReserved : RecordState::kAllocated;
  }
  const std::string_view name = first.substr(0, equals);
  if (name == kChosenNote) return RecordState::kAllocated;
  return name == kStateNote ? StateOfText(first.substr(equals + 1)) : RecordState::kReserved;
}

std::string_view ReservedForOfHidden(std::string_view hidden) {
  return ValueOfNote(hidden, kReservedForNote);
}

std::string_view RangeOfHidden(std::string_view hidden) { return ValueOfNote(hidden, kRangeNote); }

std::string_view RangeOrDefault(std::string_view address, RecordState state,
                                std::string_view noted) {
  if (noted == kNoRange) return {};
  if (!noted.empty() || state != RecordState::kAllocated) return noted;
  const bool v6 = address.find(':') != std::string_view::npos;
  return v6 ? kIpv6RangeName : kIpv4RangeName;
}

std::optional<base::WallTime> AddressEnds(const codec::Value& /*address*/,
                                          std::string_view hidden) {
  const RecordState state = StateOfHidden(hidden);
  if (state != RecordState::kPending && state != RecordState::kFree) return std::nullopt;
  return NotesOfHidden(hidden).until;
}

}  // namespace berth::rules
