// Switches the form of allocations of a store that is open in this process, with the few parts of a
// server that this needs. If the store is etcd, servers may use it meanwhile.
#pragma once

#include <memory>

#include "base/result.h"
#include "berth/serve/allocations_path.h"
#include "berth/store/allocations_command.h"
#include "berth/store/open.h"
#include "berth/store/progress.h"
#include "store/engine.h"

namespace berth::cli {

base::Result<AllocationStatus> SwitchOffline(std::unique_ptr<store::Engine> engine, bool shared,
                                             const AllocationsArguments& arguments, Tools& tools,
                                             Progress& progress);

}  // namespace berth::cli
