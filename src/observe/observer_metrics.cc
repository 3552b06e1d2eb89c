#include "observe/observer_metrics.h"

#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "alloc/state.h"
#include "audit/finding.h"

namespace berth::observe {
namespace {

using obs::MetricType;
using obs::Samples;

constexpr std::array<std::pair<alloc::State, const char*>, alloc::kStates> kStateNames = {
    {{alloc::State::kFree, "free"},
     {alloc::State::kTaken, "taken"},
     {alloc::State::kReserved, "reserved"},
     {alloc::State::kCooling, "cooling"},
     {alloc::State::kExcluded, "excluded"}}};
constexpr std::array<std::pair<alloc::Band, const char*>, 2> kBandNames = {
    {{alloc::Band::kStatic, "static"}, {alloc::Band::kDynamic, "dynamic"}}};
constexpr std::array<const char*, alloc::kPools> kPoolNames = {"ipv4", "ipv6", "ports"};

double SecondsOf(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

void AddRanges(Observer& observer, obs::Metrics& metrics) {
  metrics.Add({.name = "berth_observer_range_values",
               .help = "Values of a range, by band and state. No series before the first list.",
               .type = MetricType::kGauge,
               .labels = {"range", "name", "kind", "band", "state"}},
              [&observer](Samples& out) {
                const auto figures = observer.figures();
                if (!figures) return;
                for (const RangeReport& range : figures->ranges) {
                  for (const auto& [band, band_name] : kBandNames) {
                    const inspect::BandFigures& of_band = range.figures.Of(band);
                    for (const auto& [state, state_name] : kStateNames) {
                      out.Add(static_cast<double>(of_band.counts[state]),
                              {range.text, range.name, range.kind, band_name, state_name});
                    }
                  }
                }
              });
  metrics.Add({.name = "berth_observer_range_spilled_values",
               .help = "Values of the static band that the allocator picked, because the dynamic "
                       "band had none left.",
               .type = MetricType::kGauge,
               .labels = {"range", "name", "kind"}},
              [&observer](Samples& out) {
                const auto figures = observer.figures();
                if (!figures) return;
                for (const RangeReport& range : figures->ranges) {
                  out.Add(static_cast<double>(range.figures.Spill()),
                          {range.text, range.name, range.kind});
                }
              });
}

void AddContents(Observer& observer, const base::Clock& clock, obs::Metrics& metrics) {
  metrics.Add({.name = "berth_observer_held_values",
               .help = "Values that Services hold, by pool.",
               .type = MetricType::kGauge,
               .labels = {"pool"}},
              [&observer](Samples& out) {
                const auto figures = observer.figures();
                if (!figures) return;
                for (const alloc::PoolId pool : alloc::kAllPools) {
                  out.Add(static_cast<double>(figures->held[pool]),
                          {kPoolNames[static_cast<size_t>(pool)]});
                }
              });
  metrics.Add(
      {.name = "berth_observer_findings",
       .help = "What is wrong with the addresses and ports of the cluster, by kind, as "
               "berth verify finds it. A finding counts once two passes have it, an orphan of "
               "Kubernetes after a minute.",
       .type = MetricType::kGauge,
       .labels = {"kind"}},
      [&observer](Samples& out) {
        const auto figures = observer.figures();
        if (!figures) return;
        for (size_t kind = 0; kind < audit::kFindingKinds; ++kind) {
          out.Add(static_cast<double>(figures->findings[kind]),
                  {std::string(audit::NameOf(static_cast<audit::FindingKind>(kind)))});
        }
      });
  metrics.Add({.name = "berth_observer_figures_age_seconds",
               .help = "Time since ranges and findings were counted; -1 before the first time.",
               .type = MetricType::kGauge},
              [&observer, &clock] {
                const auto figures = observer.figures();
                return figures ? SecondsOf(clock.Now() - figures->at) : -1.0;
              });
}

void AddFollowing(Observer& observer, obs::Metrics& metrics) {
  const auto add = [&](const char* name, const char* help, MetricType type,
                       double (*read)(const KindStatus&)) {
    metrics.Add({.name = name, .help = help, .type = type, .labels = {"resource"}},
                [&observer, read](Samples& out) {
                  for (const KindStatus& status : observer.status()) {
                    out.Add(read(status), {std::string(NameOf(status.kind))});
                  }
                });
  };
  add("berth_observer_lag_seconds",
      "Time since the cluster was last known to be as observed; 0 before the first list.",
      MetricType::kGauge, [](const KindStatus& status) { return SecondsOf(status.lag); });
  add("berth_observer_listed", "1 if the resource has been listed since the start, otherwise 0.",
      MetricType::kGauge, [](const KindStatus& status) { return status.listed ? 1.0 : 0.0; });
  add("berth_observer_lists_total", "Complete lists of a resource.", MetricType::kCounter,
      [](const KindStatus& status) { return static_cast<double>(status.lists); });
  add("berth_observer_watch_restarts_total", "How often the watch of a resource was lost.",
      MetricType::kCounter,
      [](const KindStatus& status) { return static_cast<double>(status.cuts); });
}

void AddHistory(Observer& observer, obs::Metrics& metrics) {
  const auto add = [&](const char* name, const char* help, MetricType type,
                       double (*read)(const history::HistoryStats&)) {
    metrics.Add({.name = name, .help = help, .type = type},
                [&observer, read] { return read(observer.history().stats()); });
  };
  add("berth_observer_history_bytes", "Size of the history on the disk.", MetricType::kGauge,
      [](const history::HistoryStats& stats) { return static_cast<double>(stats.bytes); });
  add("berth_observer_history_segments", "Files of the history.", MetricType::kGauge,
      [](const history::HistoryStats& stats) { return static_cast<double>(stats.segments); });
  add("berth_observer_history_changes_total", "Changes recorded since the start.",
      MetricType::kCounter,
      [](const history::HistoryStats& stats) { return static_cast<double>(stats.changes); });
  add("berth_observer_history_writable", "1 if the history can be written, otherwise 0.",
      MetricType::kGauge,
      [](const history::HistoryStats& stats) { return stats.trouble.empty() ? 1.0 : 0.0; });
  add("berth_observer_services", "Services that hold an address or a port.", MetricType::kGauge,
      [](const history::HistoryStats& stats) { return static_cast<double>(stats.services); });
}

}  // namespace

void AddObserverMetrics(Observer& observer, const base::Clock& clock, obs::Metrics& metrics) {
  AddRanges(observer, metrics);
  AddContents(observer, clock, metrics);
  AddFollowing(observer, metrics);
  AddHistory(observer, metrics);
}

}  // namespace berth::observe
