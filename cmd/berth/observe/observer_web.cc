#include "berth/observe/observer_web.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "base/go_text.h"
#include "berth/observe/history_document.h"
#include "codec/json.h"
#include "codec/timestamp.h"
#include "history/history_reader.h"
#include "ip/cidr.h"
#include "ip/port_range.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

constexpr size_t kThreads = 2;
constexpr size_t kMaxWaiting = 64;
constexpr std::string_view kBearer = "Bearer ";

http::Response TextAnswer(int code, std::string text) {
  return {.code = code,
          .headers = {{"content-type", "text/plain; charset=utf-8"},
                      {"x-content-type-options", "nosniff"}},
          .body = std::move(text)};
}

http::Response JsonAnswer(int code, const codec::Value& document) {
  return {.code = code,
          .headers = {{"content-type", "application/json"}, {"cache-control", "no-store"}},
          .body = codec::WriteJson(document, {.indent = 2}) + "\n",
          .compress = true};
}

http::Response ErrorJson(int code, std::string_view message) {
  return JsonAnswer(code, codec::Object{{"code", code}, {"message", message}});
}

http::Response AnswerOf(const Result<codec::Value>& document) {
  if (document) return JsonAnswer(200, *document);
  constexpr int kBadRequest = 400;
  const bool invalid = document.error().reason == Reason::kInvalid;
  return ErrorJson(invalid ? kBadRequest : base::HttpCode(document.error().reason),
                   document.error().message);
}

/// Returns the time of a parameter, or `otherwise` if it is not given.
Result<base::WallTime> TimeOf(const server::Query& query, std::string_view name,
                              base::WallTime otherwise) {
  const std::string* text = query.Find(name);
  if (text == nullptr) return otherwise;
  const auto time = codec::ParseTime(*text);
  if (time) return *time;
  return base::Fail(Reason::kInvalid, fmt::format("{}={}: must be a time, such as "
                                                  "2026-01-02T15:04:05Z",
                                                  name, base::GoQuoted(*text)));
}

Result<std::pair<alloc::PoolId, alloc::Interval>> RangeOf(const std::string& text) {
  if (const auto cidr = ip::ParseCidr(text)) {
    return std::pair{alloc::PoolOf(cidr->family()),
                     alloc::Interval{.first = cidr->First().bits(), .last = cidr->Last().bits()}};
  }
  if (const auto ports = ip::ParsePortRange(text)) {
    return std::pair{alloc::PoolId::kPorts,
                     alloc::Interval{.first = ports->first(), .last = ports->last()}};
  }
  return base::Fail(Reason::kInvalid,
                    fmt::format("range={}: must be a CIDR or a port range", base::GoQuoted(text)));
}

}  // namespace

ObserverWeb::ObserverWeb(const Parts& parts) : parts_(parts), workers_(kThreads, kMaxWaiting) {
  health_.AddLive("ping", [] { return std::nullopt; });
  health_.AddReady("history", [this]() -> std::optional<std::string> {
    const std::string trouble = parts_.observer.history().stats().trouble;
    return trouble.empty() ? std::nullopt : std::optional(trouble);
  });
  health_.AddReady("cluster", [this] { return WhyNotReady(); });
}

std::optional<std::string> ObserverWeb::WhyNotReady() const {
  for (const observe::KindStatus& status : parts_.observer.status()) {
    const std::string_view name = observe::NameOf(status.kind);
    if (!status.listed) {
      return status.trouble.empty() ? fmt::format("{} are not listed yet", name)
                                    : fmt::format("{} are not listed: {}", name, status.trouble);
    }
    if (parts_.max_lag && status.lag > *parts_.max_lag) {
      return fmt::format("{} were last seen {} s ago, and the limit is {} s", name,
                         std::chrono::floor<std::chrono::seconds>(status.lag).count(),
                         parts_.max_lag->count());
    }
  }
  return std::nullopt;
}

std::string ObserverWeb::LagText() const {
  std::string text;
  for (const observe::KindStatus& status : parts_.observer.status()) {
    const double seconds = std::chrono::duration<double>(status.lag).count();
    text += status.listed ? fmt::format("{}: lag {:.1f} s, revision {}",
                                        observe::NameOf(status.kind), seconds, status.revision)
                          : fmt::format("{}: not listed yet", observe::NameOf(status.kind));
    text += status.trouble.empty() ? "\n" : fmt::format(", {}\n", status.trouble);
  }
  return text;
}

http::Response ObserverWeb::AnswerHealth(const std::string& path,
                                         const server::Query& query) const {
  const auto answer = health_.Ask(path, query);
  if (!answer) return TextAnswer(404, "there is no such check\n");
  const bool all = query.Find("verbose") != nullptr || answer->code != 200;
  return TextAnswer(answer->code, answer->text + (all ? LagText() : ""));
}

void ObserverWeb::Handle(const http::Request& request, const http::Responder& responder) {
  if (request.method != "GET" && request.method != "HEAD") {
    responder.Finish(ErrorJson(405, "an observer only answers GET"));
    return;
  }
  for (const std::string_view health : {"/livez", "/readyz", "/healthz"}) {
    if (request.path != health && !request.path.starts_with(std::string(health) + "/")) continue;
    responder.Finish(AnswerHealth(request.path, server::Query(request.query)));
    return;
  }
  const auto host = request.headers.Find("host");
  // A web site whose name leads to this machine must not read. Metrics are often scraped by a name.
  if (parts_.names != nullptr && request.path.starts_with("/api/") && host &&
      !parts_.names->IsOwnHost(*host)) {
    responder.Finish(ErrorJson(
        403, fmt::format("the observer is not known as {}; if it is, start it with --ui-host",
                         base::GoQuoted(std::string(*host)))));
    return;
  }
  const bool taken = workers_.Run([this, request, responder] {
    if (auto refusal = Refuse(request)) {
      responder.Finish(*std::move(refusal));
    } else {
      responder.Finish(Answer(request.path, server::Query(request.query)));
    }
  });
  if (taken) return;
  http::Response busy = ErrorJson(503, "too many requests wait; try again in a second");
  busy.headers.Add("retry-after", "1");
  responder.Finish(std::move(busy));
}

std::optional<http::Response> ObserverWeb::Refuse(const http::Request& request) const {
  if (parts_.reviewer == nullptr) return std::nullopt;
  const auto header = request.headers.Find("authorization");
  if (!header || !header->starts_with(kBearer) || header->size() == kBearer.size()) {
    http::Response refusal =
        ErrorJson(401, "give a bearer token of the cluster, in the header Authorization");
    refusal.headers.Add("www-authenticate", "Bearer");
    return refusal;
  }
  const std::string token(header->substr(kBearer.size()));
  const auto may = parts_.reviewer->MayRead(token, request.path);
  if (!may) {
    // An unknown token is the client's fault. Everything else is the cluster's.
    if (may.error().reason == Reason::kUnauthorized) return ErrorJson(401, may.error().message);
    return ErrorJson(503, fmt::format("the cluster does not say whether you may read this: {}",
                                      may.error().message));
  }
  if (*may) return std::nullopt;
  return ErrorJson(403, fmt::format("the cluster does not allow you to get {}", request.path));
}

http::Response ObserverWeb::Answer(const std::string& path, const server::Query& query) const {
  if (path == "/metrics") {
    return {.headers = {{"content-type", obs::Metrics::kContentType}},
            .body = parts_.metrics.Text(),
            .compress = true};
  }
  if (path == "/api/v1/whois") return AnswerOf(Whois(query));
  if (path == "/api/v1/history") return AnswerOf(History(query));
  if (path == "/api/v1/use") return AnswerOf(Use(query));
  if (path == "/api/v1/top") return AnswerOf(Top());
  return ErrorJson(404,
                   "there is no such path; there are /metrics, /readyz, /livez, /api/v1/top, "
                   "/api/v1/whois, /api/v1/history and /api/v1/use");
}

base::WallTime ObserverWeb::LatestTime() const {
  constexpr std::chrono::seconds kAsGoodAsNow{5};
  const base::WallTime now = parts_.clock.Now();
  const auto seen = parts_.observer.history().stats().seen;
  return seen && *seen <= now && now - *seen <= kAsGoodAsNow ? *seen : now;
}

Result<codec::Value> ObserverWeb::Whois(const server::Query& query) const {
  const auto value = ParseHeldValue(query.Get("value"));
  if (!value) return tl::unexpected(value.error());
  history::History& history = parts_.observer.history();
  const auto at = TimeOf(query, "at", LatestTime());
  if (!at) return tl::unexpected(at.error());
  if (const auto flushed = history.Flush(); !flushed) return tl::unexpected(flushed.error());
  const auto reader = history::HistoryReader::Open(history.directory());
  if (!reader) return tl::unexpected(reader.error());
  const auto held = reader->WhoHeld(*value, *at);
  if (!held) return tl::unexpected(held.error());
  return ToDocument(*value, *at, *held);
}

Result<codec::Value> ObserverWeb::History(const server::Query& query) const {
  history::History& history = parts_.observer.history();
  if (const auto flushed = history.Flush(); !flushed) return tl::unexpected(flushed.error());
  const auto reader = history::HistoryReader::Open(history.directory());
  if (!reader) return tl::unexpected(reader.error());
  Result<history::Past> past;
  if (const std::string* service = query.Find("service")) {
    const size_t slash = service->find('/');
    if (slash == std::string::npos) {
      return base::Fail(Reason::kInvalid, "service: must be NAMESPACE/NAME");
    }
    past = reader->HistoryOfService(service->substr(0, slash), service->substr(slash + 1));
  } else {
    const auto value = ParseHeldValue(query.Get("value"));
    if (!value) return tl::unexpected(value.error());
    past = reader->HistoryOf(*value);
  }
  if (!past) return tl::unexpected(past.error());
  return ToDocument(*past);
}

Result<codec::Value> ObserverWeb::Use(const server::Query& query) const {
  const auto range = RangeOf(std::string(query.Get("range")));
  if (!range) return tl::unexpected(range.error());
  const base::WallTime now = parts_.clock.Now();
  const auto from = TimeOf(query, "from", now - std::chrono::days(30));
  if (!from) return tl::unexpected(from.error());
  const auto to = TimeOf(query, "to", now);
  if (!to) return tl::unexpected(to.error());
  constexpr int64_t kMaxStep = 10LL * 366 * 24 * 3600;
  int64_t step = 3600;
  if (const std::string* text = query.Find("step")) {
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), step);
    if (error != std::errc() || end != text->data() + text->size() || step <= 0 ||
        step > kMaxStep) {
      return base::Fail(Reason::kInvalid, "step: must be a number of seconds, at most ten years");
    }
  }
  history::History& history = parts_.observer.history();
  if (const auto flushed = history.Flush(); !flushed) return tl::unexpected(flushed.error());
  const auto reader = history::HistoryReader::Open(history.directory());
  if (!reader) return tl::unexpected(reader.error());
  const auto points =
      reader->UsePoints(range->first, range->second, *from, *to, std::chrono::seconds(step));
  if (!points) return tl::unexpected(points.error());
  return ToDocument(*points);
}

Result<codec::Value> ObserverWeb::Top() const {
  const auto figures = parts_.observer.figures();
  if (figures) return ToDocument(*figures);
  return base::Fail(Reason::kServiceUnavailable,
                    "nothing has been counted yet; try again in a moment");
}

}  // namespace berth::cli
