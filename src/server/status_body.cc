#include "server/status_body.h"

#include "api/meta.h"
#include "codec/json.h"
#include "codec/protobuf.h"
#include "codec/yaml.h"

namespace berth::server {
namespace {

using codec::Array;
using codec::Object;
using codec::Value;

/// Seconds for clients that are told to retry without a time.
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

std::string RenderStatus(const Value& status, Media media, bool pretty) {
  switch (media) {
    case Media::kYaml:
      return codec::WriteYaml(status);
    case Media::kProtobuf:
      return codec::WrapEnvelope("v1", "Status", codec::EncodeProto(status, api::kStatus));
    case Media::kJson:
      break;
  }
  return codec::WriteJson(status, {.indent = pretty ? 2 : 0}) + "\n";
}

int RetryAfter(const base::Error& error) {
  const int seconds = error.details ? error.details->retry_after_seconds : 0;
  const bool busy = error.reason == base::Reason::kTooManyRequests;
  return seconds == 0 && busy ? kDefaultRetryAfter : seconds;
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
