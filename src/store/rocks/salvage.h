// Makes a store with a damaged log usable again by giving up the damaged record and all behind it.
// Acknowledged writes are lost; a copy of what is cut stays in the directory.
//
// Clients may have seen revisions that are lost now. They must not be given out a second time, so
// the store goes on kSalvageRaise above its last one and forgets its history.
//
// The file `salvaging` lies in the directory from before the cut until all is done: a store that
// has it was interrupted in between and must not be opened, but salvaged again.
//
// Threads: plain functions; they take the directory's lock.
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

/// More than fit into the logs that can be lost.
inline constexpr int64_t kSalvageRaise = int64_t{1} << 32;

struct Damage {
  std::optional<BadRecord> bad = {};
  bool interrupted = false;  // By a salvage that did not come to its end.
};

/// kNotFound when there is no store.
base::Result<Damage> InspectDamage(const std::string& directory, const base::Clock& clock);

struct Salvaged {
  std::optional<std::string> copy = {};  // The folder with what was cut, if something was.
  Revision last = {};                    // The newest revision that is left.
  Revision raised = {};                  // New ones lie above this.
};

/// Cuts and mends, whatever that loses.
base::Result<Salvaged> Salvage(const std::string& directory, base::Logger& log,
                               const base::Clock& clock);

}  // namespace berth::store::rocks
