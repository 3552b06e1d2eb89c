// The warning for a client that cannot have a value because the value is taken: which Service has
// it, and since when. Kubernetes' errors do not say that, so the error stays as it is and the
// warning comes beside it. This is the only place that tells a client about a Service of another
// client. Pure.
#pragma once

#include <optional>
#include <string>

#include "allocation/records.h"
#include "state/object.h"

namespace berth::allocation {

/// Returns the warning about the record of a value, such as `10.96.0.10 is held by Service shop/web
/// since 2026-11-01T10:00:00Z`. Returns nullopt if the record cools down, or if the object is not a
/// record.
std::optional<std::string> HolderWarning(const RecordRows& rows, const state::Object& record);

}  // namespace berth::allocation
