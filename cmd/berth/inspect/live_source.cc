#include "berth/inspect/live_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "berth/inspect/load_cluster.h"
#include "codec/timestamp.h"
#include "inspect/cluster_reader.h"
#include "kube/list.h"

namespace berth::cli {
namespace {

std::vector<Listing> WithServices(std::vector<Listing> others) {
  others.insert(others.begin(), ServiceListing());
  return others;
}

std::vector<inspect::AddObject> ReadersOf(const std::vector<Listing>& listings) {
  std::vector<inspect::AddObject> readers;
  for (const Listing& listing : listings) readers.push_back(listing.add);
  return readers;
}

/// Returns whether the last thing that a watch has met is an error. Watches also end without one.
bool IsCutOff(const kube::WatchState& state) {
  if (state.connected_since || !state.last_error_at) return false;
  return !state.last_heard || *state.last_error_at >= *state.last_heard;
}

/// Returns the parts of a view that no watch reports.
inspect::Cluster HeadOf(const inspect::Cluster& cluster) {
  return {.source = cluster.source,
          .server = cluster.server,
          .version = cluster.version,
          .keeps = cluster.keeps,
          .ranges = GivenRanges(cluster),
          .gaps = cluster.gaps};
}

}  // namespace

LiveSource::LiveSource(const kube::Access& access, inspect::Cluster first,
                       std::vector<Listing> readable, const base::Clock& clock)
    : clock_(clock),
      first_(std::move(first)),
      head_(HeadOf(first_)),
      listings_(WithServices(std::move(readable))),
      cut_since_(listings_.size()),
      live_(ReadersOf(listings_)),
      lists_to_come_(listings_.size()),
      listed_(listings_.size()) {
  auto random = base::SeededRandom::FromKernel();
  for (size_t kind = 0; kind < listings_.size(); ++kind) {
    watches_.push_back(std::make_unique<kube::Watch>(
        access, kube::TargetOf(*listings_[kind].kind),
        kube::WatchContext{.clock = clock_, .seed = random.Next()},
        [this, kind](kube::WatchEvent event) { OnEvent(kind, std::move(event)); }));
  }
}

void LiveSource::OnEvent(size_t kind, kube::WatchEvent event) {
  using Type = kube::WatchEvent::Type;
  const base::MutexLock lock(mutex_);
  switch (event.type) {
    case Type::kListBegin:
      live_.BeginList(kind);
      return;
    case Type::kListed:
      live_.Put(kind, event.object);
      return;
    case Type::kListEnd:
      live_.EndList(kind);
      if (!listed_[kind]) --lists_to_come_;
      listed_[kind] = true;
      break;
    case Type::kAdded:
    case Type::kModified:
      live_.Put(kind, event.object);
      break;
    case Type::kDeleted:
      live_.Remove(kind, event.object);
      break;
    case Type::kBookmark:
      return;
  }
  news_ = true;
  changed_.NotifyAll();
}

std::vector<inspect::Gap> LiveSource::Troubles() {
  // A watch that is resumed, or listed anew after 410, is away for a moment. That is not shown.
  constexpr std::chrono::seconds kWorthTelling{2};
  struct Cut {
    std::vector<std::string_view> plurals = {};
    base::WallTime since = {};
  };
  std::map<std::string, Cut> cuts;  // By their error.
  const base::WallTime now = clock_.Now();
  for (size_t kind = 0; kind < watches_.size(); ++kind) {
    const kube::WatchState state = watches_[kind]->State();
    std::optional<base::WallTime>& since = cut_since_[kind];
    if (!IsCutOff(state)) {
      since.reset();
      continue;
    }
    if (!since) since = now;
    if (now - *since < kWorthTelling) continue;
    // One server that is away is one trouble.
    Cut& cut = cuts[state.last_error];
    cut.plurals.emplace_back(listings_[kind].kind->plural);
    cut.since = cut.plurals.size() == 1 ? *since : std::min(cut.since, *since);
  }
  std::vector<inspect::Gap> troubles;
  for (const auto& [error, cut] : cuts) {
    troubles.push_back(
        {.what = fmt::format("changes of {} since {} are not seen: {}",
                             fmt::join(cut.plurals, ", "), codec::FormatTime(cut.since), error),
         .advice = "what is shown is from before; the server is tried again"});
  }
  return troubles;
}

bool LiveSource::WaitForNews(std::chrono::nanoseconds limit) {
  // A watch does not tell that it is cut off, so it is asked this often.
  constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(250);
  for (std::chrono::nanoseconds waited{0}; waited < limit; waited += kSlice) {
    if (Troubles() != shown_troubles_) return true;
    const base::MutexLock lock(mutex_);
    if (news_ && lists_to_come_ == 0) return true;
    changed_.WaitFor(mutex_, std::min(kSlice, limit - waited));
    if (news_ && lists_to_come_ == 0) return true;
  }
  return false;
}

inspect::Cluster LiveSource::View() {
  shown_troubles_ = Troubles();
  const base::MutexLock lock(mutex_);
  if (lists_to_come_ > 0) {
    inspect::Cluster view = first_;
    view.gaps.insert(view.gaps.end(), shown_troubles_.begin(), shown_troubles_.end());
    return view;
  }
  first_ = {};
  inspect::ClusterReader reader({.source = head_.source, .read_at = clock_.Now()});
  reader.view() = head_;
  reader.view().read_at = clock_.Now();
  for (const inspect::Gap& trouble : shown_troubles_) reader.AddGap(trouble);
  news_ = false;
  live_.AddTo(reader);
  return std::move(reader).Finish();
}

}  // namespace berth::cli
