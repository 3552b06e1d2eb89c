// Brings the state of one store into another: for migration between engines and for restoring a
// snapshot. Revisions are not carried over: the target gives out its own, which must lie above
// every one the source has given out, so that no client sees time go back.
//
// While a copy is under way the target holds a note of it (kCopyNoteKey). A store with that note is
// incomplete: nobody may serve it, and it is no source for another copy. It is gone once the copy
// has been compared with the source.
//
// Threads: plain functions that wait; nobody else may write to the target meanwhile (a key that
// turns up there ends the copy).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/digest.h"
#include "store/engine.h"
#include "store/snapshot.h"
#include "store/types.h"

namespace berth::store {

enum class CopyPhase : uint8_t { kDeleting, kCopying, kChecking };

struct CopyProgress {
  CopyPhase phase = CopyPhase::kCopying;
  uint64_t keys = 0;  // Done in this phase.
  uint64_t bytes = 0;
};

struct CopyOptions {
  std::string note = {};     // For people: what is being copied, from where, since when.
  Revision above = {};       // The target's revisions must have got here.
  bool replace = false;      // Deletes what the target holds; else it must hold nothing.
  Normalise normalise = {};  // Values are copied and compared in this form.
  size_t txn_puts = 100;     // etcd takes 128 operations in a transaction.
  size_t txn_bytes = size_t{256} << 10;
  size_t in_flight = 16;
  std::function<void(const CopyProgress&)> progress = {};
};

/// The summaries' checksums are equal. Keys that expired meanwhile are missing in `target`.
struct Copied {
  Revision source_revision = {};  // The state right after it was copied.
  Revision target_revision = {};  // Of the finished copy; how it came about is compacted.
  uint64_t deleted = 0;           // Keys the target held before.
  StateSummary source = {};
  StateSummary target = {};
};

/// Hands every entry to the sink in the order of keys and returns the revision they are of.
using EntrySource = std::function<base::Result<Revision>(const EntrySink& sink)>;

/// Fails, having changed nothing, when the target is behind `above`, or holds keys and may not be
/// replaced (kAlreadyExists: says how many of what). When it fails later the target keeps the note.
base::Result<Copied> CopyInto(Engine& target, const EntrySource& source,
                              const CopyOptions& options);

/// All keys under /registry/ as they are now, but the engines' own.
EntrySource EntriesOf(Engine& engine);

/// The entries of a snapshot file.
EntrySource EntriesOfSnapshot(std::string path);

/// The note of a copy that is under way or was not finished.
base::Result<std::optional<std::string>> UnfinishedCopy(Engine& engine);

/// What is in a store now, and at which revision.
base::Result<Revision> Summarise(Engine& engine, const Normalise& normalise, StateSummary& summary);

/// "3 keys (2 services, 1 namespaces)": the kinds with most keys.
std::string SummaryText(const StateSummary& summary);

}  // namespace berth::store
