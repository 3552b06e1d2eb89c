// The columns and cells of a Service; see table.h.
#pragma once

#include <span>

#include "base/clock.h"
#include "codec/value.h"
#include "rules/table.h"

namespace berth::rules {

std::span<const Column> ServiceColumns();
codec::Array ServiceCells(const codec::Value& service, base::WallTime now);

}  // namespace berth::rules
