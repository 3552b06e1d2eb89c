// Finds the range that a person means: by its name, by its values, or by a part of its values.
// Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "base/result.h"
#include "inspect/census.h"

namespace berth::inspect {

/// Some values of a range, or all of them.
struct RangePart {
  RangeRef range = {};
  alloc::Interval values = {};
};

/// Returns the ranges that the text means. There is at least one.
///
/// - A name means the range object of this name. A ServiceCIDR of two families has two ranges.
/// - A CIDR or a port range means the range with exactly these values, or else that part of the
///   smallest range that contains all of them.
///
/// Fails with kInvalid if the text cannot be read, and with kNotFound if there is no such range.
/// The message of kNotFound names the ranges that there are.
base::Result<std::vector<RangePart>> FindParts(const Census& census, std::string_view text);

/// Returns "kubernetes (10.96.0.0/16) and 30000-32767", the ranges that there are, for messages.
std::string RangeList(const Census& census);

}  // namespace berth::inspect
