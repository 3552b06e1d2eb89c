// The answer to one request, as a small handle that may be copied, kept and used on any thread. The
// first answer counts; every further one does nothing, and so does one to a client or a server that
// is gone.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "http/message.h"
#include "http/source.h"

namespace berth::http {

/// Which request an answer belongs to. Numbers are never used twice by a sink.
struct StreamKey {
  uint64_t connection = 0;
  uint32_t stream = 0;
};

/// Where answers go: an io thread, or whatever a test puts in its place. Thread-safe.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void Finish(StreamKey key, Response response) = 0;
  virtual void Stream(StreamKey key, Response head, std::unique_ptr<Source> source) = 0;
};

class Responder {
 public:
  Responder() = default;  // Belongs to no request: all it is told is lost.
  Responder(std::shared_ptr<AnswerSink> sink, StreamKey key, bool accepts_gzip)
      : sink_(std::move(sink)), key_(key), accepts_gzip_(accepts_gzip) {}

  /// The whole answer. Compressing, if asked for, is done here, on the caller's thread.
  void Finish(Response response) const;

  /// The head of an answer whose body comes from `source`.
  void Stream(int code, Headers headers, std::unique_ptr<Source> source) const;

 private:
  std::shared_ptr<AnswerSink> sink_;
  StreamKey key_;
  bool accepts_gzip_ = false;
};

}  // namespace berth::http
