// The checks before the engine runs: whether the prefix belongs to Berth, and whether the options
// are valid.
#pragma once

#include <optional>

#include "base/log.h"
#include "base/result.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_committer.h"
#include "store/etcd/etcd_engine.h"

namespace berth::store::etcd {

struct Opened {
  MarkerAt marker;
  int64_t compacted = 0;  // etcd revision in the compaction key; 0 if there is no such key.
};

/// How far a new time line raises revisions: far above all that other processes may have handed out
/// since this one took its note.
inline constexpr int64_t kTimeLineRaise = int64_t{1} << 48;

/// Reads the marker, or creates it if the prefix is empty. Refuses a prefix that has keys but no
/// marker (the error names some keys), and a marker that this version does not understand. If the
/// options have a note of this prefix that the store contradicts, raises the base in the marker, so
/// that a new time line begins above all revisions of the last one. Then all processes open the
/// store again. Blocks.
base::Result<Opened> ReadOrCreateMarker(Client& client, const EtcdOptions& options,
                                        base::Logger& log);

/// Returns what is wrong with the options, or nullopt if they are valid.
std::optional<base::Error> CheckOptions(const EtcdOptions& options);

}  // namespace berth::store::etcd
