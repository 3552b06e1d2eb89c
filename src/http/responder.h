// A handle for the answer to one request. It is small and may be copied, kept and used on any
// thread. Only the first answer counts. Further answers do nothing, nor does an answer to a client
// that has disconnected or on a server that has stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "http/message.h"
#include "http/source.h"

namespace berth::http {

/// Identifies the request that an answer belongs to. A sink never uses a number twice.
struct StreamKey {
  uint64_t connection = 0;
  uint32_t stream = 0;
};

/// The receiver of answers: an io thread, or a replacement in tests. Thread-safe.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;
  virtual void Finish(StreamKey key, Response response) = 0;
  virtual void Stream(StreamKey key, Response head, std::unique_ptr<Source> source) = 0;
};

class Responder {
 public:
  Responder() = default;  // Belongs to no request and drops all answers.
  Responder(std::shared_ptr<AnswerSink> sink, StreamKey key, bool accepts_gzip)
      : sink_(std::move(sink)), key_(key), accepts_gzip_(accepts_gzip) {}

  /// Sends the whole answer. Compresses it here, on the caller's thread, if the answer asks for it.
  void Finish(Response response) const;

  /// Sends the head of an answer whose body comes from `source`.
  void Stream(int code, Headers headers, std::unique_ptr<Source> source) const;

 private:
  std::shared_ptr<AnswerSink> sink_;
  StreamKey key_;
  bool accepts_gzip_ = false;
};

}  // namespace berth::http
