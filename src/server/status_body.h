// Turns an Error into the Status document that the client reads. No other code does so. Pure.
#pragma once

#include <string>

#include "base/error.h"
#include "codec/value.h"
#include "server/accept.h"

namespace berth::server {

/// Returns the Status document of a failure, with its members in Kubernetes' order.
codec::Value FailureStatus(const base::Error& error);

/// Renders a Status. JSON and YAML end with a newline.
std::string RenderStatus(const codec::Value& status, Media media, bool pretty);

/// Returns the seconds for the header Retry-After, or 0 for no such header.
int RetryAfter(const base::Error& error);

/// Returns the success Status with which a delete of most kinds is answered.
codec::Value DeletedStatus(const base::Details& about);

/// For a known path with an unknown method.
base::Error MethodNotAllowedError();
/// For an unknown path in a group that is served.
base::Error UnknownResourceError();

}  // namespace berth::server
