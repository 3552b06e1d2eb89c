#include "berth/observe/cluster_follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "api/kinds.h"
#include "base/random.h"
#include "kube/list.h"

namespace berth::cli {
namespace {

using observe::WatchedKind;

constexpr std::chrono::seconds kFirstRetry{1};
constexpr std::chrono::seconds kLongestRetry{15};
/// A server sends what a new watch has missed at once. After this time it has done so.
constexpr std::chrono::seconds kCatchUp{1};

WatchedKind WatchedKindOf(const api::Kind& kind) {
  if (&kind == &api::kIpAddressKind || &kind == &api::kAllocatedAddressKind) {
    return WatchedKind::kAddresses;
  }
  if (&kind == &api::kNodePortKind) return WatchedKind::kPorts;
  if (&kind == &api::kServiceCidrKind) return WatchedKind::kServiceCidrs;
  if (&kind == &api::kIpRangeKind) return WatchedKind::kIpRanges;
  if (&kind == &api::kNodePortRangeKind) return WatchedKind::kPortRanges;
  return WatchedKind::kServices;
}

/// Returns the number of a revision, or 0 for a server whose revisions are not numbers.
int64_t RevisionOf(const std::string& text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::vector<std::string_view> KeysOf(const std::vector<inspect::Range>& ranges) {
  std::vector<std::string_view> keys;
  for (const inspect::Range& range : ranges) keys.emplace_back(range.facts.key);
  return keys;
}

/// Returns why a watch is not open, or "" if it just ended as watches do.
std::string TroubleOf(const kube::WatchState& state) {
  const bool is_new =
      state.last_error_at && (!state.last_heard || *state.last_error_at >= *state.last_heard);
  return is_new ? state.last_error : std::string();
}

}  // namespace

// ------------------------------------------------------------------------------------------------
// One kind

void WatchRelay::OnEvent(const kube::WatchEvent& event) {
  using Type = kube::WatchEvent::Type;
  const base::MutexLock lock(mutex_);
  switch (event.type) {
    case Type::kListBegin:
      if (std::exchange(listed_, false)) {
        sink_.Lost(kind_, "the watch could not be resumed, so everything is listed again");
      }
      sink_.BeginList(kind_);
      return;
    case Type::kListEnd:
      listed_ = true;
      sink_.EndList(kind_, RevisionOf(event.revision));
      return;
    case Type::kListed:
    case Type::kAdded:
    case Type::kModified:
      sink_.Put(kind_, event.object);
      return;
    case Type::kDeleted:
      sink_.Remove(kind_, event.object);
      return;
    case Type::kBookmark:
      sink_.Seen(kind_, RevisionOf(event.revision));
      return;
  }
}

bool WatchRelay::Tick(const kube::WatchState& state, base::WallTime now) {
  const base::MutexLock lock(mutex_);
  if (!state.connected_since || !listed_) {
    const std::string trouble = TroubleOf(state);
    sink_.Late(kind_, trouble);
    if (trouble.empty() || std::exchange(troubled_, true)) return false;
    log_.Warn("the cluster is not seen at the moment",
              {{"resource", observe::NameOf(kind_)}, {"why", trouble}});
    return false;
  }
  if (now - *state.connected_since < kCatchUp) return false;
  sink_.Seen(kind_, RevisionOf(state.revision));
  if (std::exchange(troubled_, false)) {
    log_.Info("the cluster is seen again", {{"resource", observe::NameOf(kind_)}});
  }
  return state.watches > std::exchange(watches_, std::max(watches_, state.watches));
}

// ------------------------------------------------------------------------------------------------
// All kinds

WatchingFollower::WatchingFollower(kube::Access access, SourceArguments source,
                                   std::optional<RunningCluster> outline, const base::Clock& clock,
                                   base::Logger& log)
    : access_(std::move(access)),
      source_(std::move(source)),
      outline_(std::move(outline)),
      clock_(clock),
      log_(log) {}

WatchingFollower::~WatchingFollower() {
  stop_->Raise();
  if (thread_.joinable()) thread_.join();
  const base::MutexLock lock(mutex_);
  // All of them first, because each one takes a moment to end.
  for (const Followed& each : followed_) each.watch->Stop();
}

void WatchingFollower::Start(observe::ClusterSink& sink) {
  std::optional<std::vector<inspect::Range>> given;
  if (outline_) {
    Follow(*outline_, sink);
    given = GivenRanges(outline_->view);
    outline_.reset();
  }
  thread_ = std::thread([this, given = std::move(given), &sink]() mutable {
    if (!given) given = WaitForServer(sink);
    if (given) KeepRanges(*std::move(given), sink);
  });
}

std::optional<std::vector<inspect::Range>> WatchingFollower::WaitForServer(
    observe::ClusterSink& sink) {
  std::chrono::seconds pause = kFirstRetry;
  while (stop_->SleepFor(pause)) {
    const auto outline = LoadOutline(access_, source_, clock_, stop_);
    if (stop_->IsRaised()) return std::nullopt;
    if (outline) {
      log_.Info("the API server answers", {{"server", outline->view.source}});
      Follow(*outline, sink);
      return GivenRanges(outline->view);
    }
    sink.Late(WatchedKind::kServices, outline.error().message);
    pause = std::min(pause * 2, kLongestRetry);
  }
  return std::nullopt;
}

void WatchingFollower::KeepRanges(std::vector<inspect::Range> given, observe::ClusterSink& sink) {
  while (stop_->SleepFor(std::chrono::seconds(1))) {
    if (!reconnected_.exchange(false)) continue;
    const auto outline = LoadOutline(access_, source_, clock_, stop_);
    if (!outline) {
      reconnected_ = true;
      continue;
    }
    std::vector<inspect::Range> now = GivenRanges(outline->view);
    // A server that does not show its flags at the moment has not lost them.
    if (now.empty() || KeysOf(now) == KeysOf(given)) continue;
    given = std::move(now);
    log_.Info("the API server has other ranges",
              {{"ranges", fmt::format("{}", fmt::join(KeysOf(given), ", "))}});
    sink.GiveRanges(given);
  }
}

void WatchingFollower::Follow(const RunningCluster& cluster, observe::ClusterSink& sink) {
  std::vector<const api::Kind*> kinds = {ServiceListing().kind};
  for (const Listing& listing : cluster.readable) {
    // A flag replaces what the objects say.
    const bool replaced =
        listing.kind == &api::kNodePortRangeKind && !source_.node_port_range.empty();
    if (!replaced) kinds.push_back(listing.kind);
  }
  observe::ClusterOutline outline{.kinds = {},
                                  .keeps = cluster.view.keeps,
                                  .given_ranges = GivenRanges(cluster.view),
                                  .head = cluster.view};
  outline.head.ranges.clear();
  for (const api::Kind* kind : kinds) outline.kinds.push_back(WatchedKindOf(*kind));
  for (const inspect::Gap& gap : cluster.view.gaps) {
    log_.Warn("the cluster does not show everything", {{"what", gap.what}, {"advice", gap.advice}});
  }
  sink.Describe(std::move(outline));
  auto random = base::SeededRandom::FromKernel();
  const base::MutexLock lock(mutex_);
  for (const api::Kind* kind : kinds) {
    auto relay = std::make_unique<WatchRelay>(WatchedKindOf(*kind), sink, log_);
    auto watch = std::make_unique<kube::Watch>(
        cluster.access, kube::TargetOf(*kind),
        kube::WatchContext{.clock = clock_, .seed = random.Next()},
        [to = relay.get()](const kube::WatchEvent& event) { to->OnEvent(event); });
    followed_.push_back({.relay = std::move(relay), .watch = std::move(watch)});
  }
}

void WatchingFollower::Tick() {
  const base::MutexLock lock(mutex_);
  for (const Followed& each : followed_) {
    if (each.relay->Tick(each.watch->State(), clock_.Now())) reconnected_ = true;
  }
}

}  // namespace berth::cli
