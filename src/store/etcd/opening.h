// What happens before the engine runs: whose prefix is it, and is this etcd fit for use?
#pragma once

#include <optional>

#include "base/result.h"
#include "store/etcd/client.h"
#include "store/etcd/committer.h"
#include "store/etcd/etcd_engine.h"

namespace berth::store::etcd {

struct Opened {
  MarkerAt marker;
  int64_t compacted = 0;  // etcd revision, as the compaction key says; 0: none.
};

/// Reads the marker, or creates it where nothing is. Refuses keys without a marker, naming some,
/// and a marker this version does not know. Waits.
base::Result<Opened> ReadOrCreateMarker(Client& client, const EtcdOptions& options);

/// What is wrong with the options, if anything.
std::optional<base::Error> CheckOptions(const EtcdOptions& options);

}  // namespace berth::store::etcd
