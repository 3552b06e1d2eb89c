// Errors as values. An Error carries the reason that Kubernetes clients branch on and
// the sentence that the user will read. The server maps it to a Status without
// changing either. Nothing here throws.
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

/// Returns the text of `Status.reason`. It is empty for kUnknown, as Kubernetes sends it.
std::string_view ReasonText(Reason reason);

/// Returns the HTTP code that goes with a reason.
int HttpCode(Reason reason);

/// One entry of `Status.details.causes`: the field, the kind of fault, and the message.
struct Cause {
  std::string reason;
  std::string message;
  std::string field;

  bool operator==(const Cause&) const = default;
};

/// The rest of `Status.details`: the object that the error is about, and when
/// the client should try again.
struct Details {
  std::string name = {};
  std::string group = {};
  std::string kind = {};  // The plural resource, or the Kind when the object is invalid.
  std::string uid = {};
  int retry_after_seconds = 0;

  bool operator==(const Details&) const = default;
};

struct Error {
  Reason reason = Reason::kUnknown;
  std::string message;
  std::vector<Cause> causes = {};
  std::optional<Details> details = {};
  std::vector<std::string> warnings = {};  // Other warnings about the request, for the client.
  /// What a person would like to know, beyond what Kubernetes says. Only clients that show warnings
  /// to people get it.
  std::vector<std::string> hints = {};

  bool operator==(const Error&) const = default;
};

/// Returns the error of a full queue or a reached limit: 429, with the time to try again.
Error TooManyRequests();
/// Returns the error for requests that are still waiting when the server shuts down.
Error ShuttingDown();

}  // namespace berth::base
