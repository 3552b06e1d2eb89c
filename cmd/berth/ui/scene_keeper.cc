#include "berth/ui/scene_keeper.h"

#include <algorithm>
#include <utility>

#include "inspect/cluster_reader.h"

namespace berth::cli {
namespace {

using observe::WatchedKind;

/// How often it is looked whether the cluster is followed. No call tells that nothing comes.
constexpr std::chrono::nanoseconds kLookEvery = std::chrono::milliseconds(250);

template <void (inspect::ClusterReader::*Add)(const codec::Value&)>
void AddObjectOf(inspect::ClusterReader& reader, const codec::Value& object) {
  (reader.*Add)(object);
}

template <alloc::RangeKind Kind>
void AddRangeOf(inspect::ClusterReader& reader, const codec::Value& object) {
  reader.AddRange(Kind, object);
}

/// Returns how objects are read, in the order of the kinds.
std::vector<inspect::AddObject> ReadersFor(audit::Keeps keeps) {
  using inspect::ClusterReader;
  return {
      AddObjectOf<&ClusterReader::AddService>,
      keeps == audit::Keeps::kRecords ? AddObjectOf<&ClusterReader::AddAllocatedAddress>
                                      : AddObjectOf<&ClusterReader::AddPlainAddress>,
      AddObjectOf<&ClusterReader::AddNodePort>,
      AddRangeOf<alloc::RangeKind::kServiceCidr>,
      AddRangeOf<alloc::RangeKind::kIpRange>,
      AddRangeOf<alloc::RangeKind::kNodePortRange>,
  };
}

}  // namespace

SceneKeeper::SceneKeeper(SceneBoard& board, ScenePast past, const base::Clock& clock,
                         KeeperTimes times)
    : board_(board),
      past_(std::move(past)),
      clock_(clock),
      times_(times),
      live_(ReadersFor(audit::Keeps::kNothing)),
      thread_([this] { Run(); }) {}

SceneKeeper::~SceneKeeper() {
  {
    const base::MutexLock lock(mutex_);
    over_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

// ------------------------------------------------------------------------------------------------
// What the cluster shows

void SceneKeeper::Describe(observe::ClusterOutline outline) {
  const base::MutexLock lock(mutex_);
  live_.emplace(ReadersFor(outline.keeps));
  kinds_ = {};
  for (const WatchedKind kind : outline.kinds) Of(kind).wanted = true;
  outline_ = std::move(outline);
}

void SceneKeeper::GiveRanges(std::vector<inspect::Range> ranges) {
  const base::MutexLock lock(mutex_);
  outline_.given_ranges = std::move(ranges);
  news_ = true;
}

void SceneKeeper::BeginList(WatchedKind kind) {
  const base::MutexLock lock(mutex_);
  live_->BeginList(static_cast<size_t>(kind));
}

void SceneKeeper::Put(WatchedKind kind, const codec::Value& object) {
  const base::MutexLock lock(mutex_);
  live_->Put(static_cast<size_t>(kind), object);
  news_ = true;
}

void SceneKeeper::Remove(WatchedKind kind, const codec::Value& object) {
  const base::MutexLock lock(mutex_);
  live_->Remove(static_cast<size_t>(kind), object);
  news_ = true;
}

void SceneKeeper::EndList(WatchedKind kind, int64_t /*revision*/) {
  const base::MutexLock lock(mutex_);
  live_->EndList(static_cast<size_t>(kind));
  Of(kind).listed = true;
  Of(kind).cut.reset();
  news_ = true;
  wake_.NotifyAll();
}

void SceneKeeper::Seen(WatchedKind kind, int64_t /*revision*/) {
  const base::MutexLock lock(mutex_);
  Of(kind).cut.reset();
}

void SceneKeeper::Late(WatchedKind kind, std::string_view why) {
  const base::MutexLock lock(mutex_);
  Cut(kind, why);
}

void SceneKeeper::Lost(WatchedKind kind, std::string_view why) {
  const base::MutexLock lock(mutex_);
  Cut(kind, why);
}

void SceneKeeper::Cut(WatchedKind kind, std::string_view why) {
  Followed& followed = Of(kind);
  if (!followed.cut) {
    followed.cut = clock_.Steady();
    followed.cut_at = clock_.Now();
    followed.why.clear();
  }
  if (!why.empty()) followed.why = why;
}

bool SceneKeeper::IsComplete() const {
  const bool any = std::ranges::any_of(kinds_, &Followed::wanted);
  return any && std::ranges::all_of(
                    kinds_, [](const Followed& each) { return each.listed || !each.wanted; });
}

/// One server that is away is one trouble, so the first kind speaks for all.
std::optional<SceneTrouble> SceneKeeper::TroubleNow() const {
  std::optional<SceneTrouble> trouble;
  for (const Followed& each : kinds_) {
    if (!each.cut || each.why.empty()) continue;
    if (clock_.Steady() - *each.cut < times_.worth_telling) continue;
    if (!trouble || each.cut_at < trouble->since) {
      trouble = {.message = each.why, .since = each.cut_at};
    }
  }
  return trouble;
}

inspect::Cluster SceneKeeper::MakeView() {
  inspect::ClusterReader reader({.source = outline_.head.source, .read_at = clock_.Now()});
  reader.view() = outline_.head;
  reader.view().read_at = clock_.Now();
  reader.view().keeps = outline_.keeps;
  reader.view().ranges = outline_.given_ranges;
  live_->AddTo(reader);
  news_ = false;
  return std::move(reader).Finish();
}

// ------------------------------------------------------------------------------------------------
// The thread

void SceneKeeper::Run() {
  base::SteadyTime next = clock_.Steady();
  base::SteadyTime last = next;
  while (true) {
    std::optional<inspect::Cluster> view;
    const base::SteadyTime begin = clock_.Steady();
    {
      const base::MutexLock lock(mutex_);
      if (over_) return;
      const bool due = news_ || begin - last >= times_.longest_pause;
      if (due && begin >= next && IsComplete()) {
        view = MakeView();
      } else {
        wake_.WaitFor(mutex_, std::min(kLookEvery, times_.least_pause));
        if (over_) return;
      }
    }
    ShowTrouble();
    if (!view) continue;
    ShowScene(*std::move(view));
    last = clock_.Steady();
    next = last + std::max(times_.least_pause, (last - begin) * times_.pause_factor);
  }
}

void SceneKeeper::ShowTrouble() {
  std::optional<SceneTrouble> trouble;
  {
    const base::MutexLock lock(mutex_);
    trouble = TroubleNow();
  }
  const std::string message = trouble ? trouble->message : "";
  if (message == told_) return;
  told_ = message;
  board_.SetTrouble(std::move(trouble));
}

const inspect::UseHistory& SceneKeeper::UseOf(const inspect::Cluster& view) {
  if (!past_.use) return use_;
  // Only the ranges are asked for, so a census without Services is enough.
  const inspect::Cluster outline{.read_at = view.read_at, .ranges = view.ranges};
  const inspect::Census census(outline);
  std::string ranges;
  for (const inspect::RangeRef& range : census.ranges()) ranges += range.row->text + " ";
  const base::SteadyTime now = clock_.Steady();
  if (use_at_ && now - *use_at_ < times_.use_lasts && ranges == use_of_) return use_;
  use_ = past_.use(census);
  use_of_ = std::move(ranges);
  use_at_ = now;
  return use_;
}

void SceneKeeper::ShowScene(inspect::Cluster view) {
  SceneOptions options{.seq = ++seq_, .live = true, .use = UseOf(view), .past = past_.owners};
  board_.Show(std::make_shared<const Scene>(std::move(view), std::move(options)));
}

}  // namespace berth::cli
