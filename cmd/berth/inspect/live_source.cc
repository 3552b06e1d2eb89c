#include "berth/inspect/live_source.h"

#include <fmt/format.h>

#include <utility>

#include "base/random.h"
#include "berth/inspect/load_cluster.h"
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

LiveSource::LiveSource(const kube::Access& access, const inspect::Cluster& first,
                       std::vector<Listing> readable, const base::Clock& clock)
    : clock_(clock),
      head_(HeadOf(first)),
      listings_(WithServices(std::move(readable))),
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

void LiveSource::WaitForNews() {
  const base::MutexLock lock(mutex_);
  while (!news_ || lists_to_come_ > 0) changed_.Wait(mutex_);
}

inspect::Cluster LiveSource::View() {
  inspect::ClusterReader reader({.source = head_.source, .read_at = clock_.Now()});
  reader.view() = head_;
  reader.view().read_at = clock_.Now();
  for (size_t kind = 0; kind < watches_.size(); ++kind) {
    const kube::WatchState state = watches_[kind]->State();
    if (state.connected_since || state.last_error.empty()) continue;
    reader.AddGap({.what = fmt::format("changes of {} are not seen at the moment: {}",
                                       listings_[kind].kind->plural, state.last_error),
                   .advice = "the watch is tried again"});
  }
  const base::MutexLock lock(mutex_);
  news_ = false;
  live_.AddTo(reader);
  return std::move(reader).Finish();
}

}  // namespace berth::cli
