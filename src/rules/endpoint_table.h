// The columns and cells of Endpoints, EndpointSlices and Nodes; see table.h.
#pragma once

#include <span>

#include "base/clock.h"
#include "codec/value.h"
#include "rules/table.h"

namespace berth::rules {

std::span<const Column> EndpointsColumns();
codec::Array EndpointsCells(const codec::Value& endpoints, base::WallTime now);

std::span<const Column> EndpointSliceColumns();
codec::Array EndpointSliceCells(const codec::Value& slice, base::WallTime now);

std::span<const Column> NodeColumns();
codec::Array NodeCells(const codec::Value& node, base::WallTime now);

}  // namespace berth::rules
