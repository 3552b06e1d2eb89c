// Renders a plan as a document for scripts. docs/plan.md describes its keys. All keys are always
// there; a value that does not exist is null. Lists are complete and never null.
#pragma once

#include <string_view>

#include "berth/plan/plan.h"
#include "codec/value.h"

namespace berth::cli {

/// `source` is the name of the file with the values in use, if there is one.
codec::Value PlanDocument(const Plan& plan, std::string_view source);

}  // namespace berth::cli
