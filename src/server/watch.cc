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
#include "server/signals.h"
#include "watch/cursor.h"

namespace berth::server {
namespace {

constexpr std::chrono::seconds kBookmarkEvery{60};
/// Before the end of a watch, so that its client can go on where it stood.
constexpr std::chrono::seconds kLastBookmark{2};
/// Without a timeout of the client's a watch ends after this long, and up to as long again, so that
/// not all of them come back at once.
constexpr std::chrono::minutes kShortestWatch{30};
constexpr size_t kEventsAtOnce = 64;

/// How a watch begins and ends.
struct Plan {
  Form form;
  Filter filter;
  watch::Scope scope = {};
  state::SnapshotPtr initial = {};  // Its objects come first, as ADDED; null: none do.
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
        cursor_(parts.hub, plan_.scope, plan_.after, [signal = signal_] { signal->Notify(); }),
        next_bookmark_(NextBookmark()) {
    if (plan_.initial != nullptr) initial_at_ = plan_.initial->Seek(plan_.scope.key);
  }

  http::Pulled Pull(http::Pieces& out, size_t room) override {
    const http::Pulled pulled = Send(out, room);
    running_->CountEvents(std::exchange(sent_, 0));
    return pulled;
  }

  http::Signal* signal() override { return signal_.get(); }
  std::optional<base::SteadyTime> wake_at() override {
    return plan_.bookmarks ? std::min(next_bookmark_, plan_.ends) : plan_.ends;
  }
  void OnDrain() override { draining_ = true; }

 private:
  http::Pulled Send(http::Pieces& out, size_t room) {
    if (plan_.initial != nullptr && !SendInitial(out, room)) return http::Pulled::kMore;
    while (out.bytes() < room) {
      auto pull = cursor_.Next(kEventsAtOnce);
      if (!pull) return Break(out, pull.error());
      for (const watch::EventPtr& event : pull->events) SendEvent(out, event);
      if (!pull->caught_up) continue;
      if (draining_ || clock_.Steady() >= plan_.ends) {
        SendBookmark(out, pull->progress);
        return http::Pulled::kEnd;
      }
      if (clock_.Steady() >= next_bookmark_) {
        SendBookmark(out, pull->progress);
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

  /// False when there is more of it.
  bool SendInitial(http::Pieces& out, size_t room) {
    std::string text;
    for (; initial_at_.Valid() && text.size() < room; initial_at_.Next()) {
      const state::Object& object = *initial_at_.Get();
      if (!plan_.scope.Has(object) || !plan_.filter.Matches(object)) continue;
      text += RenderEvent(plan_.form, "ADDED", object, object.Revision(),
                          std::exchange(first_, false), clock_.Now());
      ++sent_;
    }
    const bool all = !initial_at_.Valid();
    if (all) {
      if (plan_.mark_initial_end) {
        text += RenderBookmark(plan_.form, plan_.initial->Revision(), true);
      }
      plan_.initial.reset();
    }
    if (!text.empty()) out.Add(std::move(text));
    return all;
  }

  void SendEvent(http::Pieces& out, const watch::EventPtr& event) {
    const bool is = event->Object() != nullptr && plan_.filter.Matches(*event->Object());
    const bool was = event->Previous() != nullptr && plan_.filter.Matches(*event->Previous());
    if (!is && !was) return;
    ++sent_;
    const std::string_view type = is ? (was ? "MODIFIED" : "ADDED") : "DELETED";
    // What stops matching is shown as it last matched, with the revision of the change.
    const state::Object& object = is ? *event->Object() : *event->Previous();
    const bool first = std::exchange(first_, false);
    // The columns of a Table come once; ages differ by the second.
    if (plan_.form.transform == Transform::kTable) {
      out.Add(RenderEvent(plan_.form, type, object, event->Revision(), first, clock_.Now()));
      return;
    }
    const uint32_t view = plan_.form.Id() << 2 | (is ? (was ? 1U : 0U) : 2U);
    out.Add(event->Frame(view, [&] {
      return RenderEvent(plan_.form, type, object, event->Revision(), first, clock_.Now());
    }));
  }

  void SendBookmark(http::Pieces& out, int64_t revision) {
    if (plan_.bookmarks && revision > 0) out.Add(RenderBookmark(plan_.form, revision, false));
  }

  /// The last event of a watch that cannot go on.
  http::Pulled Break(http::Pieces& out, const base::Error& error) {
    if (error.reason == base::Reason::kExpired) running_->CountExpired();
    out.Add(RenderErrorEvent(plan_.form, error));
    return http::Pulled::kEnd;
  }

  const base::Clock& clock_;
  const std::unique_ptr<RunningWatch> running_;
  Plan plan_;
  const std::shared_ptr<http::Signal> signal_;
  watch::Cursor cursor_;
  state::Cursor initial_at_;
  base::SteadyTime next_bookmark_;
  size_t sent_ = 0;  // Events that are not counted yet.
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
  const std::string_view type = WatchContentType(plan.form);
  call->Stream(200, type,
               std::make_unique<WatchSource>(parts, call->BeginWatch(), std::move(plan)));
}

/// A pseudo-random part of a span, so that watches do not all end at once.
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
  auto form = FormOf(*call, false);
  if (!form) return call->Fail(form.error());
  form->pretty = false;
  Plan plan{.form = *form, .filter = *std::move(filter)};
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
