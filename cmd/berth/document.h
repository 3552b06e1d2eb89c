// Small pieces that the documents of several commands share. Pure functions.
#pragma once

#include <string>

#include "base/uint128.h"
#include "codec/value.h"

namespace berth::cli {

/// Sets a number, which may be too large for a reader's integers, and its exact text.
void SetCount(codec::Object& object, const std::string& key, base::U128 count);

}  // namespace berth::cli
