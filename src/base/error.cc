#include "base/error.h"

#include <array>
#include <cstddef>

namespace berth::base {
namespace {

struct ReasonRow {
  Reason reason;
  std::string_view text;
  int code;
};

constexpr std::array kReasons = {
    ReasonRow{Reason::kUnknown, "", 500},
    ReasonRow{Reason::kBadRequest, "BadRequest", 400},
    ReasonRow{Reason::kUnauthorized, "Unauthorized", 401},
    ReasonRow{Reason::kForbidden, "Forbidden", 403},
    ReasonRow{Reason::kNotFound, "NotFound", 404},
    ReasonRow{Reason::kMethodNotAllowed, "MethodNotAllowed", 405},
    ReasonRow{Reason::kNotAcceptable, "NotAcceptable", 406},
    ReasonRow{Reason::kAlreadyExists, "AlreadyExists", 409},
    ReasonRow{Reason::kConflict, "Conflict", 409},
    ReasonRow{Reason::kGone, "Gone", 410},
    ReasonRow{Reason::kExpired, "Expired", 410},
    ReasonRow{Reason::kRequestEntityTooLarge, "RequestEntityTooLarge", 413},
    ReasonRow{Reason::kUnsupportedMediaType, "UnsupportedMediaType", 415},
    ReasonRow{Reason::kInvalid, "Invalid", 422},
    ReasonRow{Reason::kTooManyRequests, "TooManyRequests", 429},
    ReasonRow{Reason::kInternalError, "InternalError", 500},
    ReasonRow{Reason::kServerTimeout, "ServerTimeout", 500},
    ReasonRow{Reason::kServiceUnavailable, "ServiceUnavailable", 503},
    ReasonRow{Reason::kTimeout, "Timeout", 504},
};

constexpr bool RowsFollowTheEnum() {
  for (size_t i = 0; i < kReasons.size(); ++i) {
    if (static_cast<size_t>(kReasons[i].reason) != i) return false;
  }
  return true;
}
static_assert(RowsFollowTheEnum());

const ReasonRow& Row(Reason reason) { return kReasons[static_cast<size_t>(reason)]; }

}  // namespace

std::string_view ReasonText(Reason reason) { return Row(reason).text; }

int HttpCode(Reason reason) { return Row(reason).code; }

Error TooManyRequests() {
  return {.reason = Reason::kTooManyRequests,
          .message = "too many requests, please try again later",
          .details = Details{.retry_after_seconds = 1}};
}

Error ShuttingDown() {
  return {.reason = Reason::kServiceUnavailable, .message = "the server is shutting down"};
}

}  // namespace berth::base
