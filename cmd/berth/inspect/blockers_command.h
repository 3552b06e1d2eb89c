// Runs `berth blockers`.
#pragma once

#include "berth/inspect/source_arguments.h"
#include "inspect/blockers.h"

namespace berth::cli {

/// The arguments as given. RunBlockers checks them.
struct BlockersArguments {
  inspect::BlockersQuestion question = {};
  SourceArguments source = {};
  OutputArguments output = {};
};

/// Prints what stands in the way. Returns the exit code: 0 if nothing does, 1 if something does.
int RunBlockers(const BlockersArguments& arguments);

}  // namespace berth::cli
