#include "berth/ui/ui_web.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "berth/ui/web_assets.h"
#include "codec/json.h"
#include "codec/timestamp.h"
#include "server/query.h"
#include "ui/answers.h"
#include "ui/secrets.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;
using codec::Value;
using server::Query;

constexpr size_t kUiThreads = 2;
constexpr size_t kUiWaiting = 128;
constexpr size_t kMaxQuery = 8192;
constexpr size_t kMaxText =
    512;  // Of one parameter. The longest name of a Service has 317 letters.
constexpr size_t kMaxTo = 4;
constexpr int kNotModified = 304;

/// A document that depends on the scene and the query alone, or on more than that.
struct Route {
  std::string_view name;
  Result<Value> (*make)(const SceneBoard::Newest& newest, const Query& query);
  bool tagged = true;
};

std::string Parameter(const Query& query, std::string_view name) {
  return std::string(query.Get(name));
}

Result<Value> AnswerDetails(const SceneBoard::Newest& newest, const Query& query) {
  const std::string_view value = query.Get("value");
  const std::string_view service = query.Get("service");
  if (value.empty() == service.empty()) {
    return base::Fail(Reason::kInvalid, "give either value or service");
  }
  return DetailsDocument(*newest.scene, value, service);
}

Result<Value> AnswerWhatIf(const SceneBoard::Newest& newest, const Query& query) {
  std::vector<std::string> to;
  for (const std::string_view each : query.All("to")) to.emplace_back(each);
  if (to.empty()) return base::Fail(Reason::kInvalid, "to is missing: give a CIDR or ports");
  if (to.size() > kMaxTo) {
    return base::Fail(Reason::kInvalid, fmt::format("give to at most {} times", kMaxTo));
  }
  return WhatIfDocument(*newest.scene, query.Get("range"), to);
}

constexpr std::array<Route, 8> kRoutes = {{
    {"overview",
     [](const SceneBoard::Newest& newest, const Query& /*query*/) -> Result<Value> {
       return OverviewDocument(*newest.scene, newest.trouble);
     }},
    {"findings",
     [](const SceneBoard::Newest& newest, const Query& /*query*/) -> Result<Value> {
       return FindingsDocument(*newest.scene);
     }},
    {"range",
     [](const SceneBoard::Newest& newest, const Query& query) -> Result<Value> {
       return RangeDetailDocument(*newest.scene, query.Get("range"));
     }},
    {"tile",
     [](const SceneBoard::Newest& newest, const Query& query) -> Result<Value> {
       return TileDocument(*newest.scene, {.key = Parameter(query, "range"),
                                           .bits = Parameter(query, "bits"),
                                           .index = Parameter(query, "index"),
                                           .find = Parameter(query, "find")});
     }},
    {"table",
     [](const SceneBoard::Newest& newest, const Query& query) -> Result<Value> {
       return TableDocument(*newest.scene, {.key = Parameter(query, "range"),
                                            .first = Parameter(query, "first"),
                                            .last = Parameter(query, "last"),
                                            .find = Parameter(query, "find"),
                                            .after = Parameter(query, "after")});
     }},
    {"details", AnswerDetails, false},  // A history has changes that the scene does not show.
    {"search",
     [](const SceneBoard::Newest& newest, const Query& query) -> Result<Value> {
       return SearchDocument(*newest.scene, query.Get("q"));
     }},
    {"whatif", AnswerWhatIf},
}};

const Route* FindRoute(std::string_view path) {
  if (!path.starts_with(kUiPrefix)) return nullptr;
  const auto* found = std::ranges::find(kRoutes, path.substr(kUiPrefix.size()), &Route::name);
  return found == kRoutes.end() ? nullptr : found;
}

/// Bounds what the functions that make documents have to look at.
Result<void> CheckQuery(const http::Request& request, const Query& query) {
  if (request.query.size() > kMaxQuery) {
    return base::Fail(Reason::kBadRequest, "the query is too long");
  }
  for (const char* name : {"range", "bits", "index", "find", "first", "last", "after", "value",
                           "service", "q", "to"}) {
    const auto all = query.All(name);
    if (all.size() > 1 && std::string_view(name) != "to") {
      return base::Fail(Reason::kBadRequest, fmt::format("{} is given more than once", name));
    }
    for (const std::string_view text : all) {
      if (text.size() > kMaxText) {
        return base::Fail(Reason::kBadRequest, fmt::format("{} is too long", name));
      }
    }
  }
  return {};
}

}  // namespace

UiWeb::UiWeb(const Parts& parts)
    : parts_(parts),
      assets_(WebAssets()),
      process_(ui::NewSecret().substr(0, 16)),
      workers_(kUiThreads, kUiWaiting) {}

bool UiWeb::Owns(std::string_view path) const {
  return assets_.Has(path) || path.starts_with("/ui/");
}

http::Response UiWeb::SessionAnswer(const Visitor* visitor) const {
  const bool named = visitor != nullptr && !visitor->user.empty();
  const bool ends = visitor != nullptr && visitor->expires;
  return ui::JsonAnswer(
      200, codec::Object{{"mode", parts_.team ? "team" : "local"},
                         {"user", named ? Value(visitor->user) : Value()},
                         {"expires", ends ? Value(codec::FormatTime(*visitor->expires)) : Value()},
                         {"version", parts_.version}});
}

http::Response UiWeb::NoScene(const std::optional<SceneTrouble>& trouble) const {
  http::Response response = ui::ErrorAnswer(
      503, trouble ? trouble->message
                   : std::string("the cluster is being read; the page comes in a moment"));
  response.headers.Add("retry-after", "1");
  return response;
}

http::Response UiWeb::Document(const http::Request& request) const {
  const Route* route = FindRoute(request.path);
  if (route == nullptr) return ui::ErrorAnswer(404, "there is no such document");
  const Query query(request.query);
  if (const auto checked = CheckQuery(request, query); !checked) {
    return ui::ErrorAnswer(checked.error());
  }
  const SceneBoard::Newest newest = parts_.board.newest();
  if (newest.scene == nullptr) return NoScene(newest.trouble);
  // The same question about the same scene has the same answer.
  const std::string tag =
      route->tagged ? fmt::format("\"{}-{}\"", process_, newest.version) : std::string();
  const auto known = request.headers.Find("if-none-match");
  if (route->tagged && known && ui::NamesTag(*known, tag)) {
    return {.code = kNotModified, .headers = {{"etag", tag}, {"cache-control", "no-store"}}};
  }
  const auto document = route->make(newest, query);
  if (!document) return ui::ErrorAnswer(document.error());
  http::Response response = ui::JsonAnswer(200, *document);
  response.compress = parts_.team;  // A loopback is faster than compression.
  if (route->tagged) response.headers.Add("etag", tag);
  return response;
}

void UiWeb::BeginStream(const http::Responder& responder, const Visitor& visitor) {
  auto source = parts_.board.hub().Open(visitor.user, visitor.is_open);
  if (!source) {
    http::Response refusal = ui::ErrorAnswer(source.error());
    refusal.headers.Add("retry-after", "5");
    responder.Finish(ui::Secured(std::move(refusal)));
    return;
  }
  http::Response head = ui::Secured({.headers = {{"content-type", "text/event-stream"},
                                                 {"cache-control", "no-store"},
                                                 {"x-accel-buffering", "no"}}});
  responder.Stream(head.code, std::move(head.headers), *std::move(source));
}

void UiWeb::Serve(const http::Request& request, const http::Responder& responder,
                  const Visitor& visitor) {
  if (request.method != "GET" && request.method != "HEAD") {
    http::Response refusal = ui::ErrorAnswer(405, "this is only to be read, by GET or HEAD");
    refusal.headers.Add("allow", "GET, HEAD");
    responder.Finish(ui::Secured(std::move(refusal)));
    return;
  }
  if (assets_.Has(request.path)) {
    responder.Finish(ui::Secured(assets_.Answer(request)));
    return;
  }
  if (request.path == kSessionPath) {
    responder.Finish(ui::Secured(SessionAnswer(&visitor)));
    return;
  }
  if (request.path == "/ui/v1/events" && request.method == "GET") {
    BeginStream(responder, visitor);
    return;
  }
  const bool taken = workers_.Run(
      [this, request, responder] { responder.Finish(ui::Secured(Document(request))); });
  if (taken) return;
  http::Response busy = ui::ErrorAnswer(503, "too many requests wait; try again in a second");
  busy.headers.Add("retry-after", "1");
  responder.Finish(ui::Secured(std::move(busy)));
}

}  // namespace berth::cli
