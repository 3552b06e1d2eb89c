#include "server/call.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "server/status_body.h"

namespace berth::server {
namespace {

/// The limit for all warnings of an answer together, in characters, as in Kubernetes. Above it each
/// warning is cut to kMostOfEach, and the one that reaches the limit is the last: clients do not
/// accept headers of any size.
constexpr size_t kMostWarnings = 4096;
constexpr size_t kMostOfEach = 256;

bool BeginsCharacter(char c) { return (static_cast<uint8_t>(c) & 0xc0) != 0x80; }

size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, BeginsCharacter));
}

std::string_view Cut(std::string_view text) {
  size_t characters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (BeginsCharacter(text[i]) && ++characters > kMostOfEach) return text.substr(0, i);
  }
  return text;
}

/// Returns each warning once.
std::vector<std::string_view> Distinct(const std::vector<std::string>& warnings) {
  std::set<std::string_view> known;
  std::vector<std::string_view> distinct;
  for (const std::string& text : warnings) {
    if (known.insert(text).second) distinct.emplace_back(text);
  }
  return distinct;
}

void AddWarnings(const std::vector<std::string>& warnings, http::Headers& headers) {
  const std::vector<std::string_view> distinct = Distinct(warnings);
  size_t total = 0;
  for (const std::string_view text : distinct) total += Characters(text);
  const bool cut = total > kMostWarnings;
  size_t written = 0;
  for (const std::string_view text : distinct) {
    if (cut && written >= kMostWarnings) return;
    const std::string_view shown = cut ? Cut(text) : text;
    written += Characters(shown);
    headers.Add("warning", WarningHeader(shown));
  }
}

}  // namespace

std::string WarningHeader(std::string_view text) {
  std::string header = "299 - \"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) continue;
    if (c == '"' || c == '\\') header.push_back('\\');
    header.push_back(c);
  }
  return header + "\"";
}

Call::Call(http::Request the_request, http::Responder responder, const base::Clock& clock,
           RequestMetrics& metrics, obs::AuditLog* audit)
    : request(std::move(the_request)),
      query(request.query),
      responder_(std::move(responder)),
      clock_(clock),
      metrics_(metrics),
      audit_(audit),
      started_(clock.Steady()),
      time_(clock.Now()) {}

bool Call::Pretty(const Accepted& accepted) const {
  if (query.Find("pretty") != nullptr) return query.Flag("pretty");
  if (accepted.pretty) return true;
  const std::string_view agent = Header("user-agent");
  return agent.starts_with("curl") || agent.starts_with("Wget") || agent.starts_with("Mozilla/5.0");
}

bool Call::ServesAPerson() const {
  const std::string_view agent = Header("user-agent");
  return agent.starts_with("kubectl/") || agent.starts_with("oc/") || agent.starts_with("Helm/") ||
         agent.starts_with("k9s/") || agent.starts_with("curl");
}

http::Headers Call::CommonHeaders(std::string_view content_type) const {
  http::Headers headers;
  headers.AddUnique("audit-id", id);
  headers.Add("cache-control", "no-cache, private");
  headers.Add("content-type", content_type);
  AddWarnings(warnings, headers);
  return headers;
}

void Call::Fail(const base::Error& error, std::string_view continue_token) {
  warnings.insert(warnings.end(), error.warnings.begin(), error.warnings.end());
  if (ServesAPerson()) warnings.insert(warnings.end(), error.hints.begin(), error.hints.end());
  codec::Value status = FailureStatus(error);
  if (!continue_token.empty()) {
    status.Set("metadata", codec::Object{{"continue", continue_token}});
  }
  // A failure is never a Table, so the format of the object does not apply.
  const auto format = NegotiatePlain(Header("accept"));
  const Media media = format ? format->media : Media::kJson;
  const int code = base::HttpCode(error.reason);
  http::Response response{.code = code,
                          .headers = CommonHeaders(MediaName(media)),
                          .body = RenderStatus(status, media, !format || Pretty(*format))};
  if (const int seconds = RetryAfter(error); seconds > 0) {
    response.headers.Add("retry-after", std::to_string(seconds));
  }
  if (code == 401) response.headers.Add("www-authenticate", "Bearer realm=\"kubernetes\"");
  Record(code);
  responder_.Finish(std::move(response));
}

void Call::Answer(int code, std::string_view content_type, http::Pieces body) {
  Record(code);
  responder_.Finish({.code = code,
                     .headers = CommonHeaders(content_type),
                     .body = std::move(body),
                     .compress = true,
                     .bulk = request.method == "GET"});
}

void Call::AnswerHeaders(http::Response response) {
  response.headers.AddUnique("audit-id", id);
  Record(response.code);
  responder_.Finish(std::move(response));
}

void Call::Stream(int code, std::string_view content_type, std::unique_ptr<http::Source> source) {
  Record(code);
  responder_.Stream(code, CommonHeaders(content_type), std::move(source));
}

std::unique_ptr<RunningWatch> Call::BeginWatch() {
  watches_ = true;
  return std::make_unique<RunningWatch>(metrics_.Of(*this), metrics_.WatchesOf(*this), clock_,
                                        started_);
}

void Call::Record(int code) {
  slot.reset();
  const std::chrono::nanoseconds took = clock_.Steady() - started_;
  if (!watches_) metrics_.Of(*this).Count(code, took);
  if (audit_ == nullptr) return;
  std::string uri = request.path;
  if (!request.query.empty()) uri += "?" + request.query;
  audit_->Write({.time = time_,
                 .id = id,
                 .user = attributes.user.name,
                 .groups = &attributes.user.groups,
                 .source = request.peer->address,
                 .verb = attributes.verb,
                 .method = request.method,
                 .uri = uri,
                 .code = code,
                 .took = took});
}

}  // namespace berth::server
