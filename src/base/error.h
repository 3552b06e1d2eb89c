// Errors as values. An Error carries the reason Kubernetes clients branch on and the sentence the
// user will read; the server maps it to a Status without changing either. Nothing here throws.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::base {

/// The reasons of metav1.Status, one to one.
enum class Reason {
  kUnknown,
  kBadRequest,
  kUnauthorized,
  kForbidden,
  kNotFound,
  kMethodNotAllowed,
  kNotAcceptable,
  kAlreadyExists,
  kConflict,
  kGone,
  kExpired,
  kRequestEntityTooLarge,
  kUnsupportedMediaType,
  kInvalid,
  kTooManyRequests,
  kInternalError,
  kServerTimeout,
  kServiceUnavailable,
  kTimeout,
};

/// The text of `Status.reason`; empty for kUnknown, as Kubernetes sends it.
std::string_view ReasonText(Reason reason);

/// The HTTP code that goes with a reason.
int HttpCode(Reason reason);

/// One entry of `Status.details.causes`: which field, what kind of fault, what to say about it.
struct Cause {
  std::string reason;
  std::string message;
  std::string field;

  bool operator==(const Cause&) const = default;
};

/// What `Status.details` says beyond the causes: which object the error is about, and when to try
/// again.
struct Details {
  std::string name = {};
  std::string group = {};
  std::string kind = {};  // The plural resource; the Kind when the object is invalid.
  std::string uid = {};
  int retry_after_seconds = 0;

  bool operator==(const Details&) const = default;
};

struct Error {
  Reason reason = Reason::kUnknown;
  std::string message;
  std::vector<Cause> causes = {};
  std::optional<Details> details = {};
  std::vector<std::string> warnings = {};  // What else the client should hear of what it sent.

  bool operator==(const Error&) const = default;
};

/// What is said when a bound is reached: 429, with when to try again.
Error TooManyRequests();
/// What is said to those who wait when the server ends.
Error ShuttingDown();

}  // namespace berth::base
