#include "kube/watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::kube {
namespace {

using base::Reason;
using std::chrono::nanoseconds;

constexpr int kGone = 410;
/// After so many failures without an event in between, a list may help where the revision does not:
/// the server may refuse the revision, or send something unreadable after it.
constexpr int kFailuresBeforeList = 3;
/// The longest wait that a server can ask for.
constexpr std::chrono::minutes kLongestServerPause{5};
/// A server waits in silence for a revision that it does not have yet, for example because it was
/// restored from a backup. So a list comes after so many silent watches.
constexpr int kSilencesBeforeList = 2;

WatchEvent::Type ChangeType(ServerEvent::Type type) {
  switch (type) {
    case ServerEvent::Type::kAdded:
      return WatchEvent::Type::kAdded;
    case ServerEvent::Type::kModified:
      return WatchEvent::Type::kModified;
    case ServerEvent::Type::kDeleted:
      return WatchEvent::Type::kDeleted;
    default:
      return WatchEvent::Type::kBookmark;
  }
}

}  // namespace

Watch::Watch(Access access, ListTarget target, WatchContext context, WatchListener listener,
             WatchOptions options)
    : target_(std::move(target)),
      context_(std::move(context)),
      listener_(std::move(listener)),
      options_(options),
      random_(context_.seed),
      client_(std::move(access), {.random = random_, .stop = stop_, .sleep = context_.sleep},
              options.patience),
      thread_([this] { Run(); }) {}

Watch::~Watch() {
  Stop();
  thread_.join();
}

WatchState Watch::State() const {
  base::MutexLock lock(mutex_);
  return state_;
}

void Watch::Run() {
  while (!stop_->IsRaised()) {
    if (revision_.empty() && !ListAll()) {
      Rest();
      continue;
    }
    const End end = WatchOnce();
    NoteConnected(false);
    if (stop_->IsRaised()) return;
    if (end == End::kDone) continue;
    silences_in_a_row_ = end == End::kSilent ? silences_in_a_row_ + 1 : 0;
    if (end == End::kExpired || silences_in_a_row_ >= kSilencesBeforeList ||
        failures_in_a_row_ >= kFailuresBeforeList) {
      revision_.clear();
      silences_in_a_row_ = 0;
    }
    Rest();
  }
}

bool Watch::ListAll() {
  using Type = WatchEvent::Type;
  const ListReceiver receiver{.begin = [this] { Report({.type = Type::kListBegin}); },
                              .object =
                                  [this](codec::Value object) {
                                    Report({.type = Type::kListed, .object = std::move(object)});
                                  }};
  auto listed = List(client_, target_, receiver, options_.list);
  if (listed && listed->resource_version.empty()) {
    listed = tl::unexpected(
        Failure{.error = {.reason = Reason::kInternalError,
                          .message = fmt::format("the list of the server {} has no resourceVersion",
                                                 client_.Where())}});
  }
  if (!listed) {
    server_pause_ = listed.error().retry_after;
    NoteError(std::move(listed.error().error.message));
    return false;
  }
  revision_ = std::move(listed->resource_version);
  Report({.type = Type::kListEnd, .revision = revision_});
  NoteHeard();
  base::MutexLock lock(mutex_);
  state_.complete = true;
  ++state_.lists;
  return true;
}

Watch::End Watch::WatchOnce() {
  const auto time = static_cast<uint64_t>(std::max<int64_t>(options_.watch_time.count(), 1));
  const uint64_t seconds = time + base::Uniform(random_, time);
  const std::string path =
      fmt::format("{}?{}{}watch=true&allowWatchBookmarks=true&resourceVersion={}&timeoutSeconds={}",
                  target_.path, target_.query, target_.query.empty() ? "" : "&",
                  QueryEscaped(revision_), seconds);
  WatchStream stream(target_.message);
  End end = End::kDone;
  const auto begun = context_.clock.Steady();
  bool heard = false;
  const auto answer =
      client_.Get({.path = path, .read_timeout = options_.idle_limit, .endless = true},
                  [&](const http::ClientResponse&, std::string_view part) {
                    if (stop_->IsRaised()) return false;
                    if (part.empty()) {
                      NoteConnected(true);
                      return true;
                    }
                    heard = true;
                    auto fed = stream.Feed(part, [&](ServerEvent event) {
                      return OnEvent(std::move(event), end) && !stop_->IsRaised();
                    });
                    if (fed) return *fed;
                    end = End::kBroken;
                    NoteError(fmt::format("the watch of {} at the server {} broke: {}",
                                          target_.path, client_.Where(), fed.error().message));
                    return false;
                  });
  if (answer) {
    // A server that ends each watch at once must not be asked again at once.
    const bool too_short = !heard && context_.clock.Steady() - begun < options_.first_pause;
    if (end == End::kDone && (stream.InLine() || too_short)) {
      end = End::kBroken;
      NoteError(fmt::format("the server {} ended the watch of {} {}", client_.Where(), target_.path,
                            too_short ? "at once" : "within an event"));
    }
    if (end == End::kDone) failures_in_a_row_ = 0;
    return end;
  }
  if (stop_->IsRaised()) return End::kDone;
  server_pause_ = answer.error().retry_after;
  NoteError(answer.error().error.message);
  if (answer.error().code == kGone) return End::kExpired;
  return answer.error().error.reason == Reason::kTimeout && !heard ? End::kSilent : End::kBroken;
}

bool Watch::OnEvent(ServerEvent event, End& end) {
  if (event.type == ServerEvent::Type::kError) {
    end = event.status.code == kGone ? End::kExpired : End::kBroken;
    server_pause_ = std::chrono::seconds(event.status.retry_after_seconds);
    NoteError(fmt::format("the server {} ended the watch of {}: {}", client_.Where(), target_.path,
                          event.status.message));
    return false;
  }
  revision_ = event.revision;
  failures_in_a_row_ = 0;
  silences_in_a_row_ = 0;
  const bool bookmark = event.type == ServerEvent::Type::kBookmark;
  Report({.type = ChangeType(event.type),
          .object = bookmark ? codec::Value() : std::move(event.object),
          .revision = std::move(event.revision)});
  NoteHeard();
  if (bookmark) return true;
  base::MutexLock lock(mutex_);
  ++state_.events;
  return true;
}

void Watch::Report(const WatchEvent& event) {
  if (!stop_->IsRaised()) listener_(event);
}

void Watch::NoteHeard() {
  base::MutexLock lock(mutex_);
  state_.last_heard = context_.clock.Now();
  state_.revision = revision_;
}

void Watch::NoteConnected(bool connected) {
  base::MutexLock lock(mutex_);
  if (connected) {
    ++state_.watches;
    state_.connected_since = context_.clock.Now();
  } else {
    state_.connected_since.reset();
  }
}

void Watch::NoteError(std::string message) {
  if (stop_->IsRaised()) return;
  ++failures_in_a_row_;
  base::MutexLock lock(mutex_);
  ++state_.failures;
  state_.last_error = std::move(message);
  state_.last_error_at = context_.clock.Now();
}

void Watch::Rest() {
  const int doublings = std::clamp(failures_in_a_row_ - 1, 0, 20);
  nanoseconds pause = std::min(options_.first_pause * (1 << doublings), options_.longest_pause);
  // Between half of it and all of it, so that clients do not come back together.
  const auto half = static_cast<uint64_t>(pause.count() / 2);
  pause = nanoseconds(half + base::Uniform(random_, half + 1));
  const nanoseconds asked = std::exchange(server_pause_, nanoseconds(0));
  pause = std::max(pause, std::min<nanoseconds>(asked, kLongestServerPause));
  if (context_.sleep) {
    context_.sleep(pause);
  } else {
    stop_->SleepFor(pause);
  }
}

}  // namespace berth::kube
