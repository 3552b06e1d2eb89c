// Fills in Services that a user may not list from the records that name them. Pure.
#pragma once

#include <cstddef>

#include "inspect/cluster.h"

namespace berth::cli {

/// Adds a Service for each one that a record names as the one that has its value and that the view
/// lacks. It has the values of its records, and the type "Unknown". Returns how many were added.
size_t AddOwnersOfRecords(inspect::Cluster& cluster);

}  // namespace berth::cli
