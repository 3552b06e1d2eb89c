#include "server/status_body.h"

#include "codec/json.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;

/// A second for those who are only told to come back.
constexpr int kDefaultRetryAfter = 1;

void SetUnlessEmpty(Object& object, const char* key, const std::string& text) {
  if (!text.empty()) object.Set(key, text);
}

Object DetailsOf(const base::Error& error) {
  Object details;
  if (error.details) {
    SetUnlessEmpty(details, "name", error.details->name);
    SetUnlessEmpty(details, "group", error.details->group);
    SetUnlessEmpty(details, "kind", error.details->kind);
    SetUnlessEmpty(details, "uid", error.details->uid);
  }
  if (!error.causes.empty()) {
    Array causes;
    for (const base::Cause& cause : error.causes) {
      Object entry;
      SetUnlessEmpty(entry, "reason", cause.reason);
      SetUnlessEmpty(entry, "message", cause.message);
      SetUnlessEmpty(entry, "field", cause.field);
      causes.emplace_back(std::move(entry));
    }
    details.Set("causes", std::move(causes));
  }
  if (error.details && error.details->retry_after_seconds > 0) {
    details.Set("retryAfterSeconds", error.details->retry_after_seconds);
  }
  return details;
}

}  // namespace

Value FailureStatus(const base::Error& error) {
  Object status;
  status.Set("kind", "Status");
  status.Set("apiVersion", "v1");
  status.Set("metadata", Object());
  status.Set("status", "Failure");
  SetUnlessEmpty(status, "message", error.message);
  SetUnlessEmpty(status, "reason", std::string(base::ReasonText(error.reason)));
  if (error.details || !error.causes.empty()) status.Set("details", DetailsOf(error));
  status.Set("code", base::HttpCode(error.reason));
  return status;
}

ErrorAnswer AnswerTo(const base::Error& error, bool pretty) {
  ErrorAnswer answer;
  answer.code = base::HttpCode(error.reason);
  answer.body = codec::WriteJson(FailureStatus(error), {.indent = pretty ? 2 : 0}) + "\n";
  answer.retry_after = error.details ? error.details->retry_after_seconds : 0;
  if (answer.code == 429 && answer.retry_after == 0) answer.retry_after = kDefaultRetryAfter;
  return answer;
}

Value DeletedStatus(const base::Details& about) {
  Object details;
  SetUnlessEmpty(details, "name", about.name);
  SetUnlessEmpty(details, "group", about.group);
  SetUnlessEmpty(details, "kind", about.kind);
  SetUnlessEmpty(details, "uid", about.uid);
  return Object{{"kind", "Status"},
                {"apiVersion", "v1"},
                {"metadata", Object()},
                {"status", "Success"},
                {"details", std::move(details)}};
}

base::Error MethodNotAllowedError() {
  return {.reason = base::Reason::kMethodNotAllowed,
          .message = "the server does not allow this method on the requested resource",
          .details = base::Details{}};
}

base::Error UnknownResourceError() {
  return {.reason = base::Reason::kNotFound,
          .message = "the server could not find the requested resource",
          .details = base::Details{}};
}

}  // namespace berth::server
