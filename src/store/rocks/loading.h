// Reads a store that has just been opened: checks that it is a store, creates it if the database is
// empty, and loads what the engine keeps in memory.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/rocks/database.h"
#include "store/rocks/key_index.h"
#include "store/rocks/rocks_layout.h"
#include "store/types.h"

namespace berth::store::rocks {

struct LoadedState {
  Revision compacted = {};
  Revision last = {};                // The newest revision, or the base of a store without events.
  std::vector<Sample> samples = {};  // In the order of time.
  uint64_t history_bytes = 0;        // Bytes of history ever written, as the samples count them.
};

/// Reads the notes, the samples and the end of the log. Fails if the notes are missing or any of
/// these is damaged.
base::Result<LoadedState> ReadNotes(const std::string& directory, const Database& database);

/// Writes the notes of a new store into a database that has no notes. Fails if the database holds
/// any row.
base::Result<void> MakeStore(const std::string& directory, const Database& database, Revision base);

/// Returns whether the database has the notes of a store. It has none before MakeStore, also after
/// a crash before that. Fails if the store has another format.
base::Result<bool> HasNotes(const std::string& directory, const Database& database);

/// Adds all live keys to the index and publishes `state.last`.
base::Result<void> LoadIndex(const std::string& directory, const Database& database,
                             const LoadedState& state, KeyIndex& index);

}  // namespace berth::store::rocks
