// One request while it is served: what was asked, by which user, in which format the answer is
// wanted; and the one answer, which also writes the audit record. All code that still works on the
// request shares it.
//
// Threads: filled in on the io thread. Any thread may answer, once.
#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "http/message.h"
#include "http/responder.h"
#include "obs/audit_log.h"
#include "server/accept.h"
#include "server/attributes.h"
#include "server/in_flight.h"
#include "server/query.h"
#include "server/request_metrics.h"
#include "server/route.h"

namespace berth::server {

class Call {
 public:
  Call(http::Request request, http::Responder responder, const base::Clock& clock,
       RequestMetrics& metrics, obs::AuditLog* audit);

  http::Request request;
  Query query;
  Route route;
  Attributes attributes;
  Accepted accept;
  std::string id;
  std::vector<std::string> warnings;
  std::optional<std::chrono::nanoseconds> timeout;  // If the client asked for one.
  std::optional<InFlight::Slot> slot;

  std::string_view Header(std::string_view name) const {
    return request.headers.Find(name).value_or(std::string_view());
  }
  base::WallTime Time() const { return time_; }
  /// Returns when to give up work that may take `limit`, or less if the client asked for less.
  base::SteadyTime Deadline(std::chrono::nanoseconds limit) const {
    return started_ + std::min(limit, timeout.value_or(limit));
  }
  /// Returns whether to indent the answer: the client asked for it, or is a browser or curl.
  bool Pretty() const { return Pretty(accept); }

  /// Answers with an error. With `continue_token` a client can continue an expired list.
  void Fail(const base::Error& error, std::string_view continue_token = {});
  void Answer(int code, std::string_view content_type, http::Pieces body);
  /// Answers with the response's own headers, for documents that clients may cache.
  void AnswerHeaders(http::Response response);
  void Stream(int code, std::string_view content_type, std::unique_ptr<http::Source> source);

  /// Makes the call a watch, which is counted when it ends and not when it is answered.
  std::unique_ptr<RunningWatch> BeginWatch();

 private:
  bool Pretty(const Accepted& accepted) const;
  /// Returns whether the client is a program that shows warnings to a person. A controller would
  /// only log them.
  bool ServesAPerson() const;
  http::Headers CommonHeaders(std::string_view content_type) const;
  void Record(int code);

  http::Responder responder_;
  const base::Clock& clock_;
  RequestMetrics& metrics_;
  obs::AuditLog* const audit_;
  const base::SteadyTime started_;
  const base::WallTime time_;
  bool watches_ = false;
};

using CallPtr = std::shared_ptr<Call>;

/// Returns the value of a `Warning` header: 299 - "text". Control characters are dropped.
std::string WarningHeader(std::string_view text);

}  // namespace berth::server
