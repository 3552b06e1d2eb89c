// Reads gzip as it arrives, in bounded parts, so that a small body which inflates to gigabytes
// costs one buffer and no more than its receiver allows. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "base/result.h"

namespace berth::http {

class Inflater {
 public:
  /// Receives inflated bytes. If it returns false, Feed stops.
  using Sink = std::function<base::Result<bool>(std::string_view part)>;

  Inflater();
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Inflates the next bytes. Returns false if the sink did. Fails with kInternalError if the bytes
  /// are not gzip, and with the error of the sink.
  base::Result<bool> Feed(std::string_view bytes, const Sink& sink);

  /// Returns whether the bytes so far end where a gzip text may end. That is so for no bytes at
  /// all.
  bool AtEnd() const;

 private:
  struct Stream;
  const std::unique_ptr<Stream> stream_;
};

}  // namespace berth::http
