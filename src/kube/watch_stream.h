// Takes the bytes of a watch apart into events. A server sends one JSON object per line. Any bytes
// are accepted, in parts of any size, and memory is bounded by the longest line. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "api/schema.h"
#include "base/result.h"
#include "codec/value.h"
#include "kube/status.h"

namespace berth::kube {

/// One event as the server sent it.
struct ServerEvent {
  enum class Type : uint8_t { kAdded, kModified, kDeleted, kBookmark, kError };
  Type type = Type::kError;
  codec::Value object = {};   ///< Canonical if the message is known. Not set for kError.
  std::string revision = {};  ///< The resourceVersion of the object.
  ServerStatus status = {};   ///< For kError.
};

/// Reads one line. Errors are kBadRequest and begin with "not an event of a watch".
base::Result<ServerEvent> ReadServerEvent(std::string_view line, const api::Message* message);

class WatchStream {
 public:
  /// Receives events in order. If it returns false, the stream ends.
  using Each = std::function<bool(ServerEvent event)>;

  explicit WatchStream(const api::Message* message) : message_(message) {}

  /// Reads the next bytes. Returns false if `each` did. After an error or false, the stream takes
  /// no more bytes.
  base::Result<bool> Feed(std::string_view bytes, const Each& each);

  /// Returns whether the bytes so far end within a line.
  bool InLine() const { return !line_.empty(); }

 private:
  const api::Message* const message_;
  std::string line_;  // The beginning of a line.
};

}  // namespace berth::kube
