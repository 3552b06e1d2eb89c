// What a server says when it refuses a request: a Status in JSON or protobuf, or any other text.
// Pure functions for any bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "codec/value.h"

namespace berth::kube {

struct ServerStatus {
  int code = 0;
  base::Reason reason = base::Reason::kUnknown;
  std::string message = {};
  /// With 410 for a page of a list: the token that brings the rest, as it is now.
  std::string continue_token = {};
  int retry_after_seconds = 0;
};

/// Reads a Status document. `code` counts if the document has no code.
ServerStatus StatusOf(const codec::Value& document, int code);

/// Reads the body of an answer with this code. A body that is not a Status becomes the message,
/// shortened and without control characters.
ServerStatus ReadStatus(int code, std::string_view body);

/// Returns which right is missing, from the message of a 403, such as `user "jane" may not list
/// ipaddresses.networking.k8s.io at the cluster scope`. Returns the message itself if it has
/// another form.
std::string MissingRight(std::string_view message);

}  // namespace berth::kube
