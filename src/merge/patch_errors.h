// The errors of patches. For use inside merge.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/go_text.h"
#include "base/result.h"
#include "merge/go_value.h"

namespace berth::merge {

/// For a text that is not a patch: 400.
inline tl::unexpected<base::Error> BadPatch(std::string message) {
  return base::Fail(base::Reason::kBadRequest, std::move(message));
}

/// For errors in a patch that Kubernetes answers with 500 and no reason. Clients see the sentence,
/// and their tests compare it.
inline tl::unexpected<base::Error> Unmergeable(std::string message) {
  return base::Fail(base::Reason::kUnknown, std::move(message));
}

/// For a patch that cannot be applied to the object: 422. Kubernetes does not say why.
inline tl::unexpected<base::Error> DoesNotApply() {
  return tl::unexpected(
      base::Error{.reason = base::Reason::kInvalid,
                  .message = "the server rejected our request due to an error in our request",
                  .causes = {},
                  .details = base::Details{}});
}

inline tl::unexpected<base::Error> TooLarge(std::string_view what) {
  return base::Fail(base::Reason::kRequestEntityTooLarge,
                    fmt::format("Request entity too large: {}", what));
}

/// For a patch whose result is not an object of the kind: 422 on the field
/// `patch`. `shown` is the faulty text.
inline tl::unexpected<base::Error> InvalidPatch(std::string shown, std::string_view why) {
  const std::string what =
      fmt::format("Invalid value: {}: {}", base::GoQuoted(Shown(std::move(shown))), why);
  return tl::unexpected(
      base::Error{.reason = base::Reason::kInvalid,
                  .message = " \"\" is invalid: patch: " + what,
                  .causes = {{.reason = "FieldValueInvalid", .message = what, .field = "patch"}},
                  .details = base::Details{}});
}

}  // namespace berth::merge
