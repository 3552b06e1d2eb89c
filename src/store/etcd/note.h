// What a process remembers of its store beyond its own end: the highest revision that clients may
// have seen, and a witness of the time line (time_line.h). A process that opens the store later
// compares it with the store, and begins a new time line if they do not fit (opening.h). The note
// is text:
//
//   prefix=/registry
//   revisionBase=0
//   revision=40959
//   witnessRevision=9
//   witnessKey=/registry/berth.io/tick
//   witnessValue=8c0a72c1d54e1ee5-3
//
// Pure: the caller keeps the note where it likes, beside the etcd and not in it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "store/etcd/witness.h"
#include "store/types.h"

namespace berth::store::etcd {

struct Note {
  std::string prefix;  // Of the keys in etcd.
  Revision base;       // The marker's.
  Revision revision;   // No client has seen a higher one from this process.
  Witness witness;

  bool operator==(const Note&) const = default;
};

std::string NoteText(const Note& note);

/// Parses a note. The error says what is wrong with the text.
base::Result<Note> ParseNote(std::string_view text);

}  // namespace berth::store::etcd
