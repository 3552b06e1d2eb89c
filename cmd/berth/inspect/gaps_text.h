// Renders what the source of a cluster does not show.
#pragma once

#include <string>

#include "berth/paint.h"
#include "inspect/cluster.h"

namespace berth::cli {

/// Returns a paragraph that begins with a blank line, or an empty text if nothing is missing.
std::string GapsText(const inspect::Cluster& cluster, const Paint& paint);

}  // namespace berth::cli
