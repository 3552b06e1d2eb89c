// The one place where an Error becomes what the client reads: HTTP code and Status document. Pure.
#pragma once

#include <string>

#include "base/error.h"
#include "codec/value.h"

namespace berth::server {

/// The Status document of a failure, members in Kubernetes' order.
codec::Value FailureStatus(const base::Error& error);

/// What an error is answered with.
struct ErrorAnswer {
  int code = 500;
  std::string body;     // JSON, with a newline at the end.
  int retry_after = 0;  // Seconds, for the header; 0: none.
};
ErrorAnswer AnswerTo(const base::Error& error, bool pretty = false);

/// The success Status that a delete is answered with for most kinds.
codec::Value DeletedStatus(const base::Details& about);

/// Path known, method not; and a path that is not known inside a group that is.
base::Error MethodNotAllowedError();
base::Error UnknownResourceError();

}  // namespace berth::server
