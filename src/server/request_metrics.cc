#include "server/request_metrics.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "server/call.h"

namespace berth::server {
namespace {

constexpr std::array kDurationBounds = {0.005, 0.025, 0.05, 0.1,  0.2,  0.4,  0.6, 0.8,
                                        1.0,   1.25,  1.5,  2.0,  3.0,  4.0,  5.0, 6.0,
                                        8.0,   10.0,  15.0, 20.0, 30.0, 45.0, 60.0};

/// The verbs by which Kubernetes' metrics name requests.
enum Verb : uint8_t {
  kGet,
  kList,
  kWatch,
  kPost,
  kPut,
  kPatch,
  kApply,
  kDelete,
  kDeleteCollection,
  kHead,
  kOther,
  kVerbs,
};
constexpr std::array<const char*, kVerbs> kVerbNames = {
    "GET",  "LIST", "WATCH", "POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION",
    "HEAD", "OTHER"};

struct VerbOfName {
  std::string_view name;
  Verb verb;
};
/// The verbs of Attributes: those of Kubernetes, and methods for plain paths.
constexpr VerbOfName kKnownVerbs[] = {{"get", kGet},       {"list", kList},
                                      {"create", kPost},   {"update", kPut},
                                      {"delete", kDelete}, {"patch", kPatch},
                                      {"watch", kWatch},   {"deletecollection", kDeleteCollection},
                                      {"post", kPost},     {"put", kPut},
                                      {"head", kHead}};

constexpr std::array<const char*, 3> kSubresources = {"", "status", "finalize"};
constexpr std::array<const char*, 3> kScopes = {"resource", "namespace", "cluster"};
constexpr size_t kPlacesPerView = kSubresources.size() * kScopes.size();

/// Paths that are not resources. The first stands for all paths that are not listed.
constexpr std::array<std::string_view, 11> kPaths = {
    "",        "/api",     "/apis",       "/berth/v1/snapshot", "/healthz",
    "/livez",  "/metrics", "/openapi/v2", "/openapi/v3",        "/readyz",
    "/version"};

constexpr size_t kDryRuns = 2;

Verb VerbOf(const Call& call) {
  const auto* found =
      std::find_if(std::begin(kKnownVerbs), std::end(kKnownVerbs),
                   [&call](const auto& known) { return known.name == call.attributes.verb; });
  if (found == std::end(kKnownVerbs)) return kOther;
  const bool applies =
      found->verb == kPatch && call.Header("content-type").starts_with("application/apply-patch");
  return applies ? kApply : found->verb;
}

bool IsDryRun(const Call& call, Verb verb) {
  const bool reads = verb == kGet || verb == kList || verb == kWatch || verb == kHead;
  return !reads && call.query.Get("dryRun") == "All";
}

size_t ScopeOf(const Route& route, Verb verb) {
  if (!route.IsCollection() || verb == kPost) return 0;
  return route.name_space.empty() ? 2 : 1;
}

size_t PathOf(std::string_view path) {
  for (size_t i = 1; i < kPaths.size(); ++i) {
    const bool below = path.starts_with(kPaths[i]) &&
                       (path.size() == kPaths[i].size() || path[kPaths[i].size()] == '/');
    if (below) return i;
  }
  return 0;
}

std::string CodeName(size_t index) {
  return index < kCountedCodes.size() ? std::to_string(kCountedCodes[index]) : "other";
}

}  // namespace

RequestSeries::RequestSeries() : duration(kDurationBounds) {}

void RequestSeries::Count(int code, std::chrono::nanoseconds took) {
  const auto* found = std::find(kCountedCodes.begin(), kCountedCodes.end(), code);
  by_code[static_cast<size_t>(found - kCountedCodes.begin())].Add();
  duration.Observe(took);
}

RequestMetrics::RequestMetrics(const registry::Kinds& kinds)
    : views_(kinds.ServedViews()),
      watches_(views_.size()),
      series_((views_.size() * kPlacesPerView + kPaths.size()) * kVerbs * kDryRuns) {}

RequestMetrics::~RequestMetrics() {
  for (const auto& series : series_) delete series.load();
}

size_t RequestMetrics::ViewOf(const Call& call) const {
  const api::Kind* kind = &call.route.served.Kind();
  return static_cast<size_t>(std::find(views_.begin(), views_.end(), kind) - views_.begin());
}

size_t RequestMetrics::PlaceOf(const Call& call) const {
  const Route& route = call.route;
  if (route.kind != Route::Kind::kResource) {
    const bool known = route.kind == Route::Kind::kPlain;
    return views_.size() * kPlacesPerView + (known ? PathOf(route.path) : 0);
  }
  size_t subresource = kSubresources.size() - 1;
  while (subresource > 0 && kSubresources[subresource] != route.subresource) --subresource;
  return (ViewOf(call) * kSubresources.size() + subresource) * kScopes.size() +
         ScopeOf(route, VerbOf(call));
}

RequestSeries& RequestMetrics::Of(const Call& call) {
  const Verb verb = VerbOf(call);
  const size_t index = (PlaceOf(call) * kVerbs + verb) * kDryRuns + (IsDryRun(call, verb) ? 1 : 0);
  std::atomic<RequestSeries*>& series = series_[index];
  RequestSeries* found = series.load(std::memory_order_acquire);
  if (found != nullptr) return *found;
  auto made = std::make_unique<RequestSeries>();
  if (series.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel)) {
    return *made.release();
  }
  return *found;
}

RequestMetrics::Labels RequestMetrics::LabelsOf(size_t index) const {
  Labels labels{.verb = kVerbNames[index / kDryRuns % kVerbs],
                .dry_run = index % kDryRuns == 1 ? "All" : ""};
  const size_t place = index / kDryRuns / kVerbs;
  if (place >= views_.size() * kPlacesPerView) {
    labels.subresource = kPaths[place - views_.size() * kPlacesPerView];
    return labels;
  }
  const api::Kind& kind = *views_[place / kPlacesPerView];
  labels.group = kind.group;
  labels.version = kind.version;
  labels.resource = kind.plural;
  labels.subresource = kSubresources[place / kScopes.size() % kSubresources.size()];
  labels.scope = kScopes[place % kScopes.size()];
  return labels;
}

template <typename Report>
void RequestMetrics::ForEach(const Report& report) const {
  for (size_t i = 0; i < series_.size(); ++i) {
    const RequestSeries* series = series_[i].load(std::memory_order_acquire);
    if (series != nullptr) report(LabelsOf(i), *series);
  }
}

void RequestMetrics::AddTo(obs::Metrics& metrics) const {
  metrics.Add({.name = "apiserver_request_total",
               .help = "Number of requests by verb, dry run, resource, scope and response code",
               .type = obs::MetricType::kCounter,
               .labels = {"code", "component", "dry_run", "group", "resource", "scope",
                          "subresource", "verb", "version"}},
              [this](obs::Samples& out) {
                ForEach([&out](const Labels& labels, const RequestSeries& series) {
                  for (size_t i = 0; i < series.by_code.size(); ++i) {
                    const uint64_t count = series.by_code[i].Value();
                    if (count == 0) continue;
                    out.Add(
                        static_cast<double>(count),
                        {CodeName(i), "apiserver", labels.dry_run, labels.group, labels.resource,
                         labels.scope, labels.subresource, labels.verb, labels.version});
                  }
                });
              });
  metrics.Add({.name = "apiserver_request_duration_seconds",
               .help = "Duration of requests in seconds; for a watch, until it ends",
               .type = obs::MetricType::kHistogram,
               .labels = {"component", "dry_run", "group", "resource", "scope", "subresource",
                          "verb", "version"}},
              [this](obs::Samples& out) {
                ForEach([&out](const Labels& labels, const RequestSeries& series) {
                  out.Add(series.duration,
                          {"apiserver", labels.dry_run, labels.group, labels.resource, labels.scope,
                           labels.subresource, labels.verb, labels.version});
                });
              });
  AddWatches(metrics);
}

void RequestMetrics::AddWatches(obs::Metrics& metrics) const {
  metrics.Add(
      {.name = "apiserver_longrunning_requests",
       .help = "Number of open watches",
       .type = obs::MetricType::kGauge,
       .labels = {"component", "group", "resource", "scope", "subresource", "verb", "version"}},
      [this](obs::Samples& out) {
        ForEach([&out](const Labels& labels, const RequestSeries& series) {
          if (labels.verb != kVerbNames[kWatch]) return;
          out.Add(static_cast<double>(series.running.Value()),
                  {"apiserver", labels.group, labels.resource, labels.scope, labels.subresource,
                   labels.verb, labels.version});
        });
      });
  const auto by_view = [this](obs::Counter WatchSeries::* counter) {
    return [this, counter](obs::Samples& out) {
      for (size_t i = 0; i < views_.size(); ++i) {
        out.Add(static_cast<double>((watches_[i].*counter).Value()),
                {std::string(views_[i]->group), std::string(views_[i]->version),
                 std::string(views_[i]->plural)});
      }
    };
  };
  metrics.Add({.name = "apiserver_watch_events_total",
               .help = "Number of events sent to watches",
               .type = obs::MetricType::kCounter,
               .labels = {"group", "version", "resource"}},
              by_view(&WatchSeries::events));
  metrics.Add({.name = "berth_watch_expired_total",
               .help = "Number of watches that ended because the next events were no longer kept",
               .type = obs::MetricType::kCounter,
               .labels = {"group", "version", "resource"}},
              by_view(&WatchSeries::expired));
}

}  // namespace berth::server
