#include "rules/record_notes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::rules {
namespace {

// A hidden text is lines, one for each annotation: `name=value`, and bare `static` or `dynamic` for
// `chosen`. Those named here come first and in this order, the state ahead of all.
constexpr std::string_view kState = "state";
constexpr std::string_view kChosen = "chosen";
constexpr std::string_view kRange = "range";
constexpr std::string_view kReservedFor = "reserved-for";
constexpr std::string_view kHoldSeconds = "hold-seconds";
constexpr std::string_view kSince = "since";
constexpr std::string_view kUntil = "until";
constexpr std::array<std::string_view, 7> kNames = {kState,       kChosen, kRange, kReservedFor,
                                                    kHoldSeconds, kSince,  kUntil};

constexpr std::string_view kStatic = "static";
constexpr std::string_view kDynamic = "dynamic";

struct Note {
  std::string name;
  std::string value;
};

bool IsInternal(const codec::Member& annotation) {
  return std::string_view(annotation.key).starts_with(kInternalPrefix);
}

/// What separates notes cannot be in one.
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

std::string Unescaped(std::string_view text) {
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
  if (name == kChosen && (value == kStatic || value == kDynamic)) {
    hidden += value;
    return;
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

Note NoteOf(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return {std::string(kChosen), std::string(line)};
  return {Unescaped(line.substr(0, equals)), Unescaped(line.substr(equals + 1))};
}

/// In the order of a hidden text.
std::vector<Note> NotesIn(const codec::Value& object) {
  std::vector<Note> notes;
  for (const codec::Member& annotation : ObjectAt(object, "metadata", "annotations")) {
    if (!IsInternal(annotation)) continue;
    notes.push_back({annotation.key.substr(kInternalPrefix.size()),
                     std::string(codec::Text(&annotation.value))});
  }
  std::ranges::stable_sort(notes, {}, [](const Note& note) {
    return std::ranges::find(kNames, std::string_view(note.name)) - kNames.begin();
  });
  return notes;
}

std::string Joined(const std::vector<Note>& notes) {
  std::string hidden;
  for (const Note& note : notes) AppendNote(hidden, note.name, note.value);
  return hidden;
}

/// What nobody here knows is kept from everybody.
RecordState StateOf(std::string_view text) {
  for (const RecordState state :
       {RecordState::kAllocated, RecordState::kPending, RecordState::kFree}) {
    if (text == StateText(state)) return state;
  }
  return RecordState::kReserved;
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
    if (note.name == kChosen) {
      notes.chosen = note.value == kStatic ? ChosenBy::kOwner : ChosenBy::kAllocator;
    } else if (note.name == kRange) {
      notes.range = std::move(note.value);
    } else if (note.name == kReservedFor) {
      notes.reserved_for = std::move(note.value);
    } else if (note.name == kHoldSeconds) {
      notes.hold_seconds = NumberOf(note.value);
    } else if (note.name == kSince) {
      notes.since = codec::ParseTime(note.value);
    } else if (note.name == kUntil) {
      notes.until = codec::ParseTime(note.value);
    }
  }
  return notes;
}

std::string HiddenOf(const RecordNotes& notes) {
  std::string hidden;
  const bool allocated = notes.state == RecordState::kAllocated;
  if (!allocated) AppendNote(hidden, kState, StateText(notes.state));
  if (allocated || notes.chosen) {
    AppendNote(hidden, kChosen, notes.chosen == ChosenBy::kOwner ? kStatic : kDynamic);
  }
  if (!notes.range.empty()) AppendNote(hidden, kRange, notes.range);
  if (!notes.reserved_for.empty()) AppendNote(hidden, kReservedFor, notes.reserved_for);
  if (notes.hold_seconds != 0) {
    AppendNote(hidden, kHoldSeconds, std::to_string(notes.hold_seconds));
  }
  if (notes.since) AppendNote(hidden, kSince, codec::FormatTime(*notes.since));
  if (notes.until) AppendNote(hidden, kUntil, codec::FormatTime(*notes.until));
  return hidden;
}

RecordState StateOfHidden(std::string_view hidden) {
  if (hidden.empty()) return RecordState::kReserved;
  const std::string_view first = TakeLine(hidden);
  const size_t equals = first.find('=');
  if (equals == std::string_view::npos) return RecordState::kAllocated;
  const std::string_view name = first.substr(0, equals);
  if (name == kChosen) return RecordState::kAllocated;
  return name == kState ? StateOf(first.substr(equals + 1)) : RecordState::kReserved;
}

std::string_view ReservedForOfHidden(std::string_view hidden) {
  while (!hidden.empty()) {
    std::string_view line = TakeLine(hidden);
    if (!line.starts_with(kReservedFor)) continue;
    line.remove_prefix(kReservedFor.size());
    if (line.starts_with('=')) return line.substr(1);
  }
  return {};
}

}  // namespace berth::rules
