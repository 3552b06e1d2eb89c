// A plan as a document for scripts. docs/plan.md describes its keys: each is always there, what
// does not exist is null, lists are complete and never null.
#pragma once

#include <string_view>

#include "berth/plan/plan.h"
#include "codec/value.h"

namespace berth::cli {

/// `source` is the name of the file of the values in use, if there was one.
codec::Value PlanDocument(const Plan& plan, std::string_view source);

}  // namespace berth::cli
