// Amounts of a resource, such as "500m" or "2Gi": resource.Quantity of Kubernetes. An amount is
// kept as the text that Kubernetes prints, so equal texts go in and come out on every path.
//
// Pure functions. The length of a text is bounded by kMostQuantityBytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::codec {

/// A longer text is refused. The largest amount that makes sense has 19 digits.
inline constexpr size_t kMostQuantityBytes = 256;

struct Quantity {
  std::string text;       // As it is stored and shown.
  bool negative = false;  // Less than 0.
  bool whole = true;      // A whole number, after thousandths are rounded up.
};

/// Parses a text. White space around it is ignored. The text of the result is the canonical form:
/// the largest unit that needs no fraction. Kubernetes keeps some texts as they are although they
/// are not quite canonical ("1.500", "+5"), and so does this function. An Error has Kubernetes'
/// message.
base::Result<Quantity> ParseQuantity(std::string_view text);

}  // namespace berth::codec
