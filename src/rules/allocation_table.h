// The columns and cells of the stored kinds of allocation.berth.io; see table.h.
#pragma once

#include <span>

#include "base/clock.h"
#include "codec/value.h"
#include "rules/table.h"

namespace berth::rules {

std::span<const Column> IpRangeColumns();
codec::Array IpRangeCells(const codec::Value& range, base::WallTime now);

std::span<const Column> NodePortRangeColumns();
codec::Array NodePortRangeCells(const codec::Value& range, base::WallTime now);

std::span<const Column> NodePortColumns();
codec::Array NodePortCells(const codec::Value& port, base::WallTime now);

std::span<const Column> ReplicaColumns();
codec::Array ReplicaCells(const codec::Value& replica, base::WallTime now);

}  // namespace berth::rules
