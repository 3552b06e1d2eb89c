// The result type of all modules: a value, or the Error that says why there is no value.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/error.h"

namespace berth::base {

template <typename T>
using Result = tl::expected<T, Error>;

/// Makes an error, as in `return Fail(Reason::kInvalid, "...")` where a Result is returned.
inline tl::unexpected<Error> Fail(Reason reason, std::string message) {
  return tl::unexpected<Error>(Error{.reason = reason, .message = std::move(message)});
}

}  // namespace berth::base
