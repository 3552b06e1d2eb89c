// Looks at everything in a store or in a snapshot file, at one revision. Reads only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "berth/verify/look.h"
#include "store/engine.h"

namespace berth::cli {

/// Called now and then with what is being done and the number of keys read so far.
using LookProgress = std::function<void(const char* doing, uint64_t keys)>;

/// Looks at an open store, page by page. Fails if the store holds an unfinished copy, and with
/// kExpired if history was given up before everything was read.
base::Result<Look> LookAtStore(store::Engine& engine, const LookProgress& progress);

/// Looks at a snapshot file. Fails with kInvalid if the file is not a valid snapshot.
base::Result<Look> LookAtSnapshot(const std::string& path, const LookProgress& progress);

}  // namespace berth::cli
