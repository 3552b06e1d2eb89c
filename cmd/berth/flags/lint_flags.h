// The flags of `berth lint`.
#pragma once

#include "berth/flags/command_set.h"

namespace berth::cli {

void AddLint(CommandSet& commands);

}  // namespace berth::cli
