// Reads a store that has just been opened: checks that it is one, makes it if it is empty, and
// brings what the engine keeps in memory up to date.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/rocks/database.h"
#include "store/rocks/key_index.h"
#include "store/rocks/layout.h"
#include "store/types.h"

namespace berth::store::rocks {

struct LoadedState {
  Revision compacted = {};
  Revision last = {};                // The newest revision there is, or what it begins above.
  std::vector<Sample> samples = {};  // In order of time.
  uint64_t history_bytes = 0;        // Ever written, as the samples count them.
};

/// Fails when it is not a store of ours, of a format we do not know, or damaged.
base::Result<LoadedState> ReadNotes(const std::string& directory, const Database& database);

/// Writes the notes of a new store into a database without any; fails when it holds something.
base::Result<void> MakeStore(const std::string& directory, const Database& database, Revision base);

/// Whether notes have been written: false also after a crash before that.
base::Result<bool> HasNotes(const std::string& directory, const Database& database);

/// Adds all live keys and publishes `state.last`.
base::Result<void> LoadIndex(const std::string& directory, const Database& database,
                             const LoadedState& state, KeyIndex& index);

}  // namespace berth::store::rocks
