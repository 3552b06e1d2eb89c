#include "server/watch.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "server/filter.h"
#include "server/list.h"
#include "server/options.h"
#include "server/render.h"
#include "server/response_format.h"
#include "server/signals.h"
#include "watch/cursor.h"

namespace berth::server {
namespace {

constexpr std::chrono::seconds kBookmarkEvery{60};
/// How long before the end of a watch the last bookmark is sent, so that the client can continue
/// from there.
constexpr std::chrono::seconds kLastBookmark{2};
/// If the client sets no timeout, a watch ends after this long plus a random time of up to as long
/// again, so that not all clients reconnect at once.
constexpr std::chrono::minutes kShortestWatch{30};
constexpr size_t kEventsAtOnce = 64;

/// How a watch begins and ends.
struct Plan {
  ResponseFormat format;
  Filter filter;
  watch::Scope scope = {};
  state::SnapshotPtr initial = {};  // Its objects are sent first, as ADDED, unless it is null.
  int64_t after = 0;
  bool bookmarks = false;
  bool mark_initial_end = false;
  base::SteadyTime ends = {};
};

class WatchSource final : public http::Source {
 public:
  WatchSource(const Parts& parts, std::unique_ptr<RunningWatch> running, Plan plan)
      : clock_(parts.clock),
        running_(std::move(running)),
        plan_(std::move(plan)),
        signal_(parts.signals.For(plan_.scope.key)),
        cursor_(parts.hub, plan_.scope, plan_.after, WakerOf(signal_)),
        next_bookmark_(NextBookmark()) {
    if (plan_.initial != nullptr) initial_at_ = plan_.initial->Seek(plan_.scope.key);
  }

  http::Pulled Pull(http::Pieces& out, size_t room) override {
    const http::Pulled pulled = Send(out, room);
    running_->CountEvents(std::exchange(sent_, 0));
    return pulled;
  }

  http::Signal* signal() override { return &signal_->signal; }
  std::optional<base::SteadyTime> wake_at() override {
    return plan_.bookmarks ? std::min(next_bookmark_, plan_.ends) : plan_.ends;
  }
  void OnDrain() override { draining_ = true; }

 private:
  http::Pulled Send(http::Pieces& out, size_t room) {
    if (plan_.initial != nullptr && !SendInitial(out, room)) return http::Pulled::kMore;
    while (out.bytes() < room) {
      const auto reached = cursor_.Read(
          kEventsAtOnce, [&](const watch::EventPtr& event) { SendEvent(out, *event); });
      if (!reached) return Break(out, reached.error());
      if (!reached->caught_up) continue;
      const base::SteadyTime now = clock_.Steady();
      if (draining_ || now >= plan_.ends) {
        SendBookmark(out, reached->progress);
        return http::Pulled::kEnd;
      }
      if (now >= next_bookmark_) {
        SendBookmark(out, reached->progress);
        next_bookmark_ = NextBookmark();
      }
      return http::Pulled::kWait;
    }
    return http::Pulled::kMore;
  }

  base::SteadyTime NextBookmark() const {
    const base::SteadyTime now = clock_.Steady();
    const base::SteadyTime last = plan_.ends - kLastBookmark;
    if (now < last) return std::min(now + kBookmarkEvery, last);
    return plan_.ends;
  }

  /// Sends the next initial events. Returns false if more are left.
  bool SendInitial(http::Pieces& out, size_t room) {
    std::string text;
    for (; initial_at_.Valid() && text.size() < room; initial_at_.Next()) {
      const state::Object& object = *initial_at_.Get();
      if (!plan_.scope.Has(object) || !plan_.filter.Matches(object)) continue;
      text += RenderEvent(plan_.format, "ADDED", object, object.Revision(),
                          std::exchange(first_, false), clock_.Now());
      ++sent_;
    }
    const bool all = !initial_at_.Valid();
    if (all) {
      if (plan_.mark_initial_end) {
        text += RenderBookmark(plan_.format, plan_.initial->Revision(), true);
      }
      plan_.initial.reset();
    }
    if (!text.empty()) out.Add(std::move(text));
    return all;
  }

  void SendEvent(http::Pieces& out, const watch::Event& event) {
    const bool is = event.Object() != nullptr && plan_.filter.Matches(*event.Object());
    const bool was = event.Previous() != nullptr && plan_.filter.Matches(*event.Previous());
    if (!is && !was) return;
    ++sent_;
    const std::string_view type = is ? (was ? "MODIFIED" : "ADDED") : "DELETED";
    // An object that stops matching is sent as it last matched, with the revision of the change.
    const state::Object& object = is ? *event.Object() : *event.Previous();
    const bool first = std::exchange(first_, false);
    // Tables are not shared: only the first event has columns, and ages change every second.
    if (plan_.format.transform == Transform::kTable) {
      out.Add(RenderEvent(plan_.format, type, object, event.Revision(), first, clock_.Now()));
      return;
    }
    const uint32_t view = plan_.format.Id() << 2 | (is ? (was ? 1U : 0U) : 2U);
    out.Add(event.Frame(view, [&] {
      return RenderEvent(plan_.format, type, object, event.Revision(), first, clock_.Now());
    }));
  }

  void SendBookmark(http::Pieces& out, int64_t revision) {
    if (plan_.bookmarks && revision > 0) out.Add(RenderBookmark(plan_.format, revision, false));
  }

  /// Sends the last event of a watch that cannot continue.
  http::Pulled Break(http::Pieces& out, const base::Error& error) {
    if (error.reason == base::Reason::kExpired) running_->CountExpired();
    out.Add(RenderErrorEvent(plan_.format, error));
    return http::Pulled::kEnd;
  }

  const base::Clock& clock_;
  const std::unique_ptr<RunningWatch> running_;
  Plan plan_;
  const std::shared_ptr<ScopeSignal> signal_;
  watch::Cursor cursor_;
  state::SnapshotIterator initial_at_;
  base::SteadyTime next_bookmark_;
  size_t sent_ = 0;  // Sent events that are not counted yet.
  bool first_ = true;
  bool draining_ = false;
};

watch::Scope ScopeOf(const Parts& parts, const Route& route, const Filter& filter) {
  watch::Scope scope{.resource = route.served.row->resource,
                     .key = ScopePrefix(parts, route, filter)};
  const state::Resources& resources = parts.registry.GetResources();
  const bool namespaced = route.served.Kind().namespaced;
  if (namespaced && scope.key != resources.Prefix(scope.resource)) {
    scope.kind = watch::Scope::Kind::kNamespace;
  }
  const auto name = filter.Name();
  const bool one_place = !namespaced || scope.kind == watch::Scope::Kind::kNamespace;
  if (name && !name->empty() && one_place && name->find('/') == std::string_view::npos) {
    scope.kind = watch::Scope::Kind::kObject;
    scope.key += *name;
  }
  return scope;
}

void Begin(const Parts& parts, const CallPtr& call, Plan plan) {
  const std::string_view type = WatchContentType(plan.format);
  call->Stream(200, type,
               std::make_unique<WatchSource>(parts, call->BeginWatch(), std::move(plan)));
}

/// Returns a pseudo-random part of a span, so that watches do not all end at once.
std::chrono::nanoseconds Spread(std::chrono::nanoseconds span, const void* seed) {
  const auto bits = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(seed)) * 0x9E3779B97F4A7C15U;
  return span * static_cast<int64_t>(bits >> 54) / 1024;
}

}  // namespace

void HandleWatch(const Parts& parts, const CallPtr& call) {
  auto options = ParseListOptions(call->query);
  if (!options) return call->Fail(options.error());
  auto filter = Filter::Make(call->route.served, *options);
  if (!filter) return call->Fail(filter.error());
  if (call->accept.media == Media::kYaml) {
    return call->Fail({.reason = base::Reason::kNotAcceptable,
                       .message = "only the following media types are accepted: "
                                  "application/json;stream=watch, "
                                  "application/vnd.kubernetes.protobuf;stream=watch"});
  }
  auto format = ResponseFormatOf(parts.registry, *call, false);
  if (!format) return call->Fail(format.error());
  format->pretty = false;
  Plan plan{.format = *format, .filter = *std::move(filter)};
  plan.scope = ScopeOf(parts, call->route, plan.filter);
  plan.bookmarks = options->bookmarks;
  const std::chrono::nanoseconds length = options->timeout
                                              ? std::chrono::nanoseconds(*options->timeout)
                                              : kShortestWatch + Spread(kShortestWatch, call.get());
  plan.ends = parts.clock.Steady() + length;
  const int64_t version = options->version.value_or(0);
  const bool initial = options->send_initial_events.value_or(version == 0);
  if (!initial) {
    plan.after = version;
    if (version > 0) return Begin(parts, call, std::move(plan));
  }
  plan.mark_initial_end = initial && options->bookmarks;
  const auto begin = [parts, call, initial,
                      plan = std::move(plan)](base::Result<state::SnapshotPtr> snapshot) mutable {
    if (!snapshot) return call->Fail(snapshot.error());
    plan.after = (*snapshot)->Revision();
    if (initial) plan.initial = *std::move(snapshot);
    Begin(parts, call, std::move(plan));
  };
  if (!options->version) {
    return parts.follower.ReadCurrent(parts.clock.Steady() + kRequestTimeout, begin);
  }
  parts.follower.AwaitRevision(version, parts.clock.Steady() + kAwaitRevision, begin);
}

}  // namespace berth::server
