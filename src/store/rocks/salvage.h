// Makes a store with a damaged log usable again by giving up the damaged record and all records
// after it. Acknowledged writes are lost. A copy of the bytes that are cut off stays in the
// directory.
//
// Clients may have seen revisions that are lost now. Such a revision must not be assigned a second
// time. So the store goes on kSalvageRaise above its last revision and gives up its history.
//
// The file `salvaging` is in the directory from before the cut until the salvage is complete. A
// store with this file was interrupted in between. It must not be opened, but salvaged again.
//
// Threads: these are plain functions that take the directory's lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "store/rocks/log_check.h"
#include "store/types.h"

namespace berth::store::rocks {

inline constexpr std::string_view kSalvagingFile = "salvaging";

/// More revisions than fit into the logs that can be lost.
inline constexpr int64_t kSalvageRaise = int64_t{1} << 32;

struct Damage {
  std::optional<BadRecord> bad = {};
  bool interrupted = false;  // Whether an earlier salvage was interrupted.
};

/// Looks for damage without a change to the store. Fails with kNotFound if the directory has no
/// store.
base::Result<Damage> InspectDamage(const std::string& directory, const base::Clock& clock);

struct Salvaged {
  std::optional<std::string> copy = {};  // The folder with the bytes that were cut off, if any.
  Revision last = {};                    // Nothing above this is left.
  Revision raised = {};                  // New revisions lie above this.
};

/// Cuts the log and repairs the store, whatever is lost by that.
base::Result<Salvaged> Salvage(const std::string& directory, base::Logger& log,
                               const base::Clock& clock);

}  // namespace berth::store::rocks
