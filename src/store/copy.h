// Copies the state of one store into another, for migration between engines and for restoring a
// snapshot. Revisions are not copied. The target assigns its own, which must lie above every
// revision of the source, so that no client sees time go back.
//
// While a copy is under way the target holds a note about it (kCopyNoteKey). A store with that note
// is incomplete: no server may serve it, and it cannot be the source of another copy. The note is
// deleted once the copy has been compared with the source.
//
// Threads: these are plain functions that wait. No other process may write to the target meanwhile:
// a key that appears there ends the copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/digest.h"
#include "store/engine.h"
#include "store/snapshot_file.h"
#include "store/types.h"

namespace berth::store {

enum class CopyPhase : uint8_t { kDeleting, kCopying, kChecking };

struct CopyProgress {
  CopyPhase phase = CopyPhase::kCopying;
  uint64_t keys = 0;  // Done in this phase.
  uint64_t bytes = 0;
};

struct CopyOptions {
  std::string note = {};     // Text for people: what is being copied, from where, since when.
  Revision above = {};       // The target must have reached this revision.
  bool replace = false;      // Deletes the target's keys first. If false, it must have none.
  Normalise normalise = {};  // Values are copied and compared in this form.
  size_t txn_puts = 100;     // etcd takes 128 operations in a transaction.
  size_t txn_bytes = size_t{256} << 10;
  size_t in_flight = 16;
  std::function<void(const CopyProgress&)> progress = {};
};

/// The result of a copy. The checksums of the two summaries are equal. Keys that expired meanwhile
/// are missing in `target`.
struct Copied {
  Revision source_revision = {};  // The state right after this revision was copied.
  Revision target_revision = {};  // Of the finished copy. The history of copying is compacted.
  uint64_t deleted = 0;           // Number of keys that the target held before.
  StateSummary source = {};
  StateSummary target = {};
};

/// Passes every entry to the sink in the order of keys and returns the revision of that state.
using EntrySource = std::function<base::Result<Revision>(const EntrySink& sink)>;

/// Copies the source into the target. Fails without a change if the target has not reached `above`,
/// or if the target holds keys and `replace` is false (kAlreadyExists with counts of the kinds). If
/// it fails later, the target keeps the note.
base::Result<Copied> CopyInto(Engine& target, const EntrySource& source,
                              const CopyOptions& options);

/// Returns a source of all keys under /registry/ as they are now, without those of the engines.
EntrySource EntriesOf(Engine& engine);

/// Returns a source of the entries of a snapshot file.
EntrySource EntriesOfSnapshot(std::string path);

/// Returns the note of a copy that is under way or was not finished. Returns nullopt if the store
/// has no such note.
base::Result<std::optional<std::string>> UnfinishedCopy(Engine& engine);

/// Fills `summary` with the present state of a store and returns its revision.
base::Result<Revision> Summarise(Engine& engine, const Normalise& normalise, StateSummary& summary);

/// Returns a text like "3 keys (2 services, 1 namespaces)" with the kinds that have the most keys.
std::string SummaryText(const StateSummary& summary);

}  // namespace berth::store
