// The one result type: a value, or the Error that says why there is none.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace berth::base {

template <typename T>
using Result = tl::expected<T, Error>;

/// `return Fail(Reason::kInvalid, "...")` from any function that returns a Result.
inline tl::unexpected<Error> Fail(Reason reason, std::string message) {
  return tl::unexpected<Error>(Error{.reason = reason, .message = std::move(message)});
}

}  // namespace berth::base
