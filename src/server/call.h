// One request on its way: what was asked, by whom, in which form the answer is wanted; and the one
// answer, which also closes the audit record. Shared by whoever still works on it.
//
// Threads: filled in on the io thread; the answer may come from any, once.
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
  std::optional<std::chrono::nanoseconds> timeout;  // As the client asked for.
  std::optional<InFlight::Ticket> ticket;

  std::string_view Header(std::string_view name) const {
    return request.headers.Find(name).value_or(std::string_view());
  }
  base::SteadyTime Started() const { return started_; }
  base::WallTime Time() const { return time_; }
  /// When to give up what may take `limit`, or as long as the client asked for, if that is less.
  base::SteadyTime Deadline(std::chrono::nanoseconds limit) const {
    return started_ + std::min(limit, timeout.value_or(limit));
  }
  /// Indented: asked for, or a browser or curl.
  bool Pretty() const { return Pretty(accept); }

  /// `continue_token`: with which an expired list can go on.
  void Fail(const base::Error& error, std::string_view continue_token = {});
  void Answer(int code, std::string_view content_type, http::Pieces body);
  /// A document that clients may keep.
  void AnswerHeaders(http::Response response);
  void Stream(int code, std::string_view content_type, std::unique_ptr<http::Source> source);

  /// From now on it is a watch, which is counted when it ends and not when it is answered.
  std::unique_ptr<RunningWatch> BeginWatch();

 private:
  bool Pretty(const Accepted& accepted) const;
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

/// A `Warning` header's value: 299 - "text". Control characters are dropped.
std::string WarningHeader(std::string_view text);

}  // namespace berth::server
