// How a stored bitmap of a range (Kubernetes' RangeAllocation) goes into a snapshot. Pure.
#pragma once

#include <string_view>

#include "base/result.h"
#include "state/wire_text.h"

namespace berth::state {

/// Returns the object of a stored RangeAllocation, for Resource::decode. Its text has only the
/// range; the stored bytes are hidden with it.
base::Result<WireText> BitmapToWire(std::string_view stored);

}  // namespace berth::state
