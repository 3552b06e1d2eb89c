// Large numbers as people write them. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/uint128.h"

namespace berth::base {

/// Returns "65,536" for "65536". It takes a text, because 2^128 does not fit into a number here.
std::string WithSeparators(std::string_view decimal);
std::string WithSeparators(U128 number);

}  // namespace berth::base
