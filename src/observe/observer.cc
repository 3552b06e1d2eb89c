#include "observe/observer.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "alloc/range_table.h"
#include "audit/pass.h"
#include "inspect/checks.h"
#include "inspect/cluster_reader.h"

namespace berth::observe {
namespace {

using alloc::PoolId;
using inspect::ClusterReader;

constexpr std::chrono::hours kCountEvery{1};
constexpr size_t kMaxMessages = 20;

alloc::RangeKind RangeKindOf(WatchedKind kind) {
  if (kind == WatchedKind::kIpRanges) return alloc::RangeKind::kIpRange;
  return kind == WatchedKind::kPortRanges ? alloc::RangeKind::kNodePortRange
                                          : alloc::RangeKind::kServiceCidr;
}

WatchedKind KindOf(const inspect::Range& range) {
  switch (range.facts.range.kind) {
    case alloc::RangeKind::kIpRange:
      return WatchedKind::kIpRanges;
    case alloc::RangeKind::kNodePortRange:
      return WatchedKind::kPortRanges;
    case alloc::RangeKind::kServiceCidr:
      break;
  }
  return WatchedKind::kServiceCidrs;
}

WatchedKind KindOf(PoolId pool) {
  return pool == PoolId::kPorts ? WatchedKind::kPorts : WatchedKind::kAddresses;
}

std::string_view ObjectKindOf(alloc::RangeKind kind) {
  if (kind == alloc::RangeKind::kIpRange) return "IPRange";
  return kind == alloc::RangeKind::kNodePortRange ? "NodePortRange" : "ServiceCIDR";
}

/// Reads a record, as the reader of views does. Returns nullopt if its name is not a value.
std::optional<audit::RecordFacts> ReadRecord(WatchedKind kind, audit::Keeps keeps,
                                             const codec::Value& object) {
  ClusterReader reader({});
  if (kind == WatchedKind::kPorts) {
    reader.AddNodePort(object);
  } else if (keeps == audit::Keeps::kRecords) {
    reader.AddAllocatedAddress(object);
  } else {
    reader.AddPlainAddress(object);
  }
  auto& records = reader.view().records;
  if (records.empty()) return std::nullopt;
  return std::move(records.front().facts);
}

inspect::Range ReadRange(WatchedKind kind, const codec::Value& object) {
  ClusterReader reader({});
  reader.AddRange(RangeKindOf(kind), object);
  return std::move(reader.view().ranges.front());
}

bool IsSame(const audit::RecordFacts& a, const audit::RecordFacts& b) {
  const auto all = [](const audit::RecordFacts& facts) {
    return std::tie(facts.object, facts.value, facts.state, facts.service_namespace,
                    facts.service_name, facts.service_uid, facts.reserved_for, facts.range,
                    facts.family, facts.health_check, facts.ports);
  };
  return all(a) == all(b);
}

audit::ServiceFacts ServiceFactsOf(const history::Owner& owner,
                                   std::span<const history::Hold> holds) {
  audit::ServiceFacts facts{.object = {.resource = "services",
                                       .name_space = owner.name_space,
                                       .name = owner.name,
                                       .uid = owner.uid}};
  for (const history::Hold& hold : holds) {
    const history::Held held = hold.held();
    facts.holds.push_back(
        {.value = held.value, .health_check = held.purpose == history::Purpose::kHealthCheck});
  }
  return facts;
}

}  // namespace

std::string_view NameOf(WatchedKind kind) {
  constexpr std::array<std::string_view, kAllWatchedKinds.size()> kNames = {
      "services", "ipaddresses", "nodeports", "servicecidrs", "ipranges", "nodeportranges"};
  return kNames[static_cast<size_t>(kind)];
}

history::ServiceState StateOf(const inspect::Service& service) {
  history::ServiceState state{.owner = {.name_space = service.object.name_space,
                                        .name = service.object.name,
                                        .uid = service.object.uid},
                              .revision = service.object.revision,
                              .created = service.created};
  state.holds.reserve(service.holds.size());
  for (const inspect::Held& held : service.holds) {
    history::Purpose purpose = history::Purpose::kAddress;
    if (held.value.pool == PoolId::kPorts) {
      purpose = held.health_check ? history::Purpose::kHealthCheck : history::Purpose::kNodePort;
    }
    state.holds.push_back({.value = held.value, .origin = held.origin, .purpose = purpose});
  }
  return state;
}

Observer::Observer(ClusterOutline outline, history::History& history, const base::Clock& clock)
    : history_(history), clock_(clock) {
  Describe(std::move(outline));
}

// ------------------------------------------------------------------------------------------------
// What the cluster shows

void Observer::PutRecord(WatchedKind kind, audit::RecordFacts facts) {
  // How a Service uses its ports is not kept, so it cannot be compared with the record.
  facts.ports.reset();
  facts.object.revision = 0;
  facts.object.uid.clear();
  const ValueKey key{facts.value.pool, facts.value.value};
  Record record{.service = facts.service_namespace + "/" + facts.service_name,
                .list = Of(kind).list,
                .says_family = !facts.family.empty()};
  if (!IsSame(FactsOf(key, record), facts)) {
    record.service.clear();
    record.whole = std::make_unique<const audit::RecordFacts>(std::move(facts));
  }
  records_[key] = std::move(record);
}

audit::RecordFacts Observer::FactsOf(const ValueKey& key, const Record& record) {
  if (record.whole) return *record.whole;
  const alloc::PoolValue value{.pool = key.first, .value = key.second};
  const size_t slash = record.service.find('/');
  audit::RecordFacts facts{.object = {.resource = "ipaddresses", .name = alloc::TextOf(value)},
                           .value = value,
                           .service_namespace = record.service.substr(0, slash),
                           .service_name = record.service.substr(slash + 1)};
  if (record.says_family) facts.family = value.pool == PoolId::kIpv4 ? "IPv4" : "IPv6";
  return facts;
}

void Observer::PutRange(WatchedKind kind, inspect::Range range) {
  std::string key = range.facts.key;
  ranges_[std::move(key)] = {.range = std::move(range), .list = Of(kind).list};
}

void Observer::Describe(ClusterOutline outline) {
  const base::MutexLock lock(mutex_);
  keeps_ = outline.keeps;
  given_ranges_ = std::move(outline.given_ranges);
  for (KindState& state : kinds_) state.followed = false;
  for (const WatchedKind kind : outline.kinds) Of(kind).followed = true;
}

void Observer::GiveRanges(std::vector<inspect::Range> ranges) {
  const base::MutexLock lock(mutex_);
  given_ranges_ = std::move(ranges);
}

void Observer::BeginList(WatchedKind kind) {
  if (kind == WatchedKind::kServices) history_.BeginList();
  const base::MutexLock lock(mutex_);
  ++Of(kind).list;
}

void Observer::Put(WatchedKind kind, const codec::Value& object) {
  if (kind == WatchedKind::kServices) {
    ClusterReader reader({});
    reader.AddService(object);
    history_.Put(StateOf(reader.view().services.front()));
    return;
  }
  if (kind == WatchedKind::kAddresses || kind == WatchedKind::kPorts) {
    const base::MutexLock lock(mutex_);
    auto record = ReadRecord(kind, keeps_, object);
    if (record) PutRecord(kind, *std::move(record));
    return;
  }
  inspect::Range range = ReadRange(kind, object);
  const base::MutexLock lock(mutex_);
  PutRange(kind, std::move(range));
}

void Observer::Remove(WatchedKind kind, const codec::Value& object) {
  if (kind == WatchedKind::kServices) {
    ClusterReader reader({});
    reader.AddService(object);
    const audit::ObjectRef& service = reader.view().services.front().object;
    history_.Remove(service.name_space, service.name, service.revision);
    return;
  }
  if (kind == WatchedKind::kAddresses || kind == WatchedKind::kPorts) {
    const base::MutexLock lock(mutex_);
    const auto record = ReadRecord(kind, keeps_, object);
    if (record) records_.erase({record->value.pool, record->value.value});
    return;
  }
  const inspect::Range range = ReadRange(kind, object);
  const base::MutexLock lock(mutex_);
  ranges_.erase(range.facts.key);
}

void Observer::EndList(WatchedKind kind, int64_t revision) {
  if (kind == WatchedKind::kServices) history_.EndList(revision);
  const base::MutexLock lock(mutex_);
  KindState& state = Of(kind);
  state.listed = true;
  ++state.lists;
  state.seen = clock_.Steady();
  state.revision = std::max(state.revision, revision);
  state.trouble.clear();
  if (kind == WatchedKind::kAddresses || kind == WatchedKind::kPorts) {
    for (auto record = records_.begin(); record != records_.end();) {
      const bool gone = KindOf(record->first.first) == kind && record->second.list != state.list;
      record = gone ? records_.erase(record) : std::next(record);
    }
  } else if (kind != WatchedKind::kServices) {
    std::erase_if(ranges_, [&](const auto& each) {
      return KindOf(each.second.range) == kind && each.second.list != state.list;
    });
  }
}

void Observer::Seen(WatchedKind kind, int64_t revision) {
  if (kind == WatchedKind::kServices) history_.Seen(revision);
  const base::MutexLock lock(mutex_);
  KindState& state = Of(kind);
  state.seen = clock_.Steady();
  state.revision = std::max(state.revision, revision);
  state.trouble.clear();
}

void Observer::Late(WatchedKind kind, std::string_view why) {
  if (kind == WatchedKind::kServices) history_.Late();
  const base::MutexLock lock(mutex_);
  Of(kind).trouble = why;
}

void Observer::Lost(WatchedKind kind, std::string_view why) {
  if (kind == WatchedKind::kServices) history_.Lost();
  const base::MutexLock lock(mutex_);
  KindState& state = Of(kind);
  ++state.cuts;
  state.trouble = why;
}

void Observer::Replace(const inspect::Cluster& cluster) {
  for (const WatchedKind kind : kAllWatchedKinds) BeginList(kind);
  for (const inspect::Service& service : cluster.services) history_.Put(StateOf(service));
  {
    const base::MutexLock lock(mutex_);
    keeps_ = cluster.keeps;
    for (const inspect::Record& record : cluster.records) {
      PutRecord(KindOf(record.facts.value.pool), record.facts);
    }
    for (const inspect::Range& range : cluster.ranges) PutRange(KindOf(range), range);
  }
  for (const WatchedKind kind : kAllWatchedKinds) EndList(kind, cluster.revision);
}

// ------------------------------------------------------------------------------------------------
// Figures

/// Makes the view that a census needs to count, and nothing else of it. One Service stands for all,
/// and the record of a value that a Service holds does not matter.
inspect::Cluster Observer::ViewForCounts(const std::vector<history::Held>& held) const {
  ClusterReader reader({.read_at = clock_.Now()});
  inspect::Cluster& view = reader.view();
  view.keeps = keeps_;
  inspect::Service& all = view.services.emplace_back();
  all.holds.reserve(held.size());
  std::vector<ValueKey> keys;
  keys.reserve(held.size());
  for (const history::Held& each : held) {
    all.holds.push_back({.value = each.value, .origin = each.origin});
    keys.emplace_back(each.value.pool, each.value.value);
  }
  std::ranges::sort(keys);
  for (const auto& [key, record] : records_) {
    if (std::ranges::binary_search(keys, key)) continue;
    view.records.push_back({.facts = FactsOf(key, record)});
  }
  for (const auto& [key, range] : ranges_) view.ranges.push_back(range.range);
  for (const inspect::Range& range : given_ranges_) view.ranges.push_back(range);
  return std::move(reader).Finish();
}

void Observer::CountRanges(const inspect::Cluster& cluster, Figures& figures) const {
  const inspect::Census census(cluster);
  for (const inspect::RangeRef& range : census.ranges()) {
    if (figures.ranges.size() == kMaxRanges) break;
    figures.ranges.push_back({.name = range.row->name,
                              .text = range.row->text,
                              .kind = std::string(ObjectKindOf(range.row->kind)),
                              .source = range.range == nullptr ? "" : range.range->source,
                              .exact = range.range == nullptr || range.range->exact,
                              .pool = range.pool,
                              .figures = census.FiguresOf(range)});
  }
}

void Observer::CountFindings(const audit::Report& report, Figures& figures) {
  const base::SteadyTime now = clock_.Steady();
  std::vector<SeenFinding> found;
  found.reserve(report.findings.size());
  for (const audit::Finding& finding : report.findings) {
    const auto kind = static_cast<size_t>(finding.kind);
    const auto last =
        std::ranges::lower_bound(last_findings_, finding.message, {}, &SeenFinding::message);
    const bool again = last != last_findings_.end() && last->message == finding.message;
    found.push_back({.message = finding.message, .first = again ? last->first : now});
    // A failed creation leaves such a record on Kubernetes until its repair runs.
    const bool settles =
        finding.kind == audit::FindingKind::kOrphan && keeps_ != audit::Keeps::kRecords;
    if (!again || (settles && now - found.back().first < inspect::kRepairTime)) continue;
    ++figures.findings[kind];
    if (figures.messages.size() < kMaxMessages) figures.messages.push_back(finding.message);
  }
  // A report lists only so many of a kind. If those have not passed, the others count too.
  for (size_t kind = 0; kind < audit::kFindingKinds; ++kind) {
    if (figures.findings[kind] == audit::kMaxFindings) {
      figures.findings[kind] = report.counts[kind];
    }
  }
  std::ranges::sort(found, {}, &SeenFinding::message);
  last_findings_ = std::move(found);
}

void Observer::RecordCounts(const Figures& figures) {
  if (counted_ && figures.at - *counted_ < kCountEvery) return;
  counted_ = figures.at;
  std::vector<history::RangeCount> counts;
  for (const RangeReport& range : figures.ranges) {
    const alloc::StateCounts all = range.figures.Counts();
    counts.push_back({.range = range.text,
                      .taken = all[alloc::State::kTaken],
                      .withheld = all[alloc::State::kReserved] + all[alloc::State::kCooling],
                      .usable = range.figures.Usable()});
  }
  history_.Count(counts);
}

bool Observer::AllListed() const {
  return std::ranges::all_of(
      kinds_, [](const KindState& state) { return state.listed || !state.followed; });
}

void Observer::Refresh() {
  if (!history_.stats().listed) return;
  auto figures = std::make_shared<Figures>();
  figures->at = clock_.Now();
  std::vector<history::Held> held;
  held.reserve(history_.stats().values);
  absl::flat_hash_map<std::string, uint64_t> by_namespace;
  const base::MutexLock lock(mutex_);
  // Without the ranges, the first figures would show assumed ones.
  if (!figures_ && !AllListed()) return;
  audit::Pass pass({.keeps = keeps_});
  history_.ForEach([&](const history::Owner& owner, std::span<const history::Hold> holds) {
    ++figures->services;
    by_namespace[owner.name_space] += holds.size();
    for (const history::Hold& hold : holds) {
      held.push_back(hold.held());
      ++figures->held[held.back().value.pool];
    }
    pass.AddService(ServiceFactsOf(owner, holds));
  });
  for (const auto& [key, record] : records_) pass.AddRecord(FactsOf(key, record));
  {
    const inspect::Cluster view = ViewForCounts(held);
    CountRanges(view, *figures);
    for (const inspect::Range& range : view.ranges) pass.AddRange(range.facts);
  }
  CountFindings(std::move(pass).Finish(), *figures);
  figures->namespaces.assign(by_namespace.begin(), by_namespace.end());
  std::ranges::sort(figures->namespaces, [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (figures->namespaces.size() > kMaxNamespaces) figures->namespaces.resize(kMaxNamespaces);
  RecordCounts(*figures);
  figures_ = std::move(figures);
}

std::shared_ptr<const Figures> Observer::figures() const {
  const base::MutexLock lock(mutex_);
  return figures_;
}

std::vector<KindStatus> Observer::status() const {
  const base::MutexLock lock(mutex_);
  const base::SteadyTime now = clock_.Steady();
  std::vector<KindStatus> all;
  for (const WatchedKind kind : kAllWatchedKinds) {
    const KindState& state = kinds_[static_cast<size_t>(kind)];
    if (!state.followed) continue;
    all.push_back({.kind = kind,
                   .listed = state.listed,
                   .lag = state.listed ? now - state.seen : std::chrono::nanoseconds(0),
                   .revision = state.revision,
                   .lists = state.lists,
                   .cuts = state.cuts,
                   .trouble = state.trouble});
  }
  return all;
}

}  // namespace berth::observe
