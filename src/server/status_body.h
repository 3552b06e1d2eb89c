// The one place where an Error becomes what the client reads: HTTP code and Status document. Pure.
#pragma once

#include <string>

#include "base/error.h"
#include "codec/value.h"
#include "server/accept.h"

namespace berth::server {

/// The Status document of a failure, members in Kubernetes' order.
codec::Value FailureStatus(const base::Error& error);

/// A Status as it is sent; text ends with a newline.
std::string RenderStatus(const codec::Value& status, Media media, bool pretty);

/// Seconds for the header of that name; 0: none.
int RetryAfter(const base::Error& error);

/// The success Status that a delete is answered with for most kinds.
codec::Value DeletedStatus(const base::Details& about);

/// Path known, method not; and a path that is not known inside a group that is.
base::Error MethodNotAllowedError();
base::Error UnknownResourceError();

}  // namespace berth::server
