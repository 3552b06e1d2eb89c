#include "inspect/running_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/go_text.h"
#include "inspect/attention.h"
#include "inspect/lint_checks.h"
#include "inspect/names.h"

namespace berth::inspect {
namespace {

using alloc::Band;
using alloc::PoolId;
using alloc::PoolValue;

enum class RunningKind : uint8_t { kHostPort, kHealthCheck, kEphemeral, kSpill, kNamed };
constexpr size_t kRunningKinds = 5;

/// Goes over the values that Services hold.
class RunningChecker {
 public:
  RunningChecker(const Census& census, const LintOptions& options)
      : census_(census), options_(options), context_(census, options) {
    Set(RunningKind::kHostPort, "HostPort", LintRule::kHostPort, Severity::kCritical);
    Set(RunningKind::kHealthCheck, "HealthCheckPort", LintRule::kHealthCheckPort,
        Severity::kCritical);
    Set(RunningKind::kEphemeral, "EphemeralRange", LintRule::kEphemeralRange, Severity::kWarning);
    Set(RunningKind::kNamed, "NamedInDynamicBand", LintRule::kDynamicBand, Severity::kNote);
    RunningFinding& spill = Of(RunningKind::kSpill);
    spill.kind = "Spill";
    spill.title = "A value of the static band was given to a Service that named none";
    spill.why =
        "That happens while the dynamic band of a range is full. A manifest that hard-codes such a "
        "value is refused. Make room in the dynamic band, and ask berth whois before you use a "
        "value of the static band.";
    spill.severity = Severity::kNote;
  }

  std::vector<RunningFinding> Run() && {
    for (const PoolId pool : alloc::kAllPools) {
      const auto uses = census_.Uses(pool);
      for (size_t i = 0; i < uses.size(); ++i) {
        Check(pool, uses[i]);
        if (i > 0 && uses[i].value == uses[i - 1].value) CheckTwo(uses[i - 1], uses[i]);
      }
    }
    std::vector<RunningFinding> found;
    for (RunningFinding& each : findings_) {
      if (each.count > 0) found.push_back(std::move(each));
    }
    std::ranges::stable_sort(found, std::ranges::greater{}, &RunningFinding::severity);
    return found;
  }

 private:
  RunningFinding& Of(RunningKind kind) { return findings_[static_cast<size_t>(kind)]; }

  void Set(RunningKind kind, std::string_view name, LintRule rule, Severity severity) {
    const RuleInfo& info = InfoOf(rule);
    Of(kind) = {.kind = name, .title = info.summary, .why = info.help, .severity = severity};
  }

  /// Returns the item to fill in, or null if there are enough.
  RunningItem* Count(RunningKind kind, const PoolValue& value, const Use& use) {
    RunningFinding& finding = Of(kind);
    if (finding.count++ >= kMostRunningItems) return nullptr;
    return &finding.items.emplace_back(RunningItem{.value = value, .service = use.service});
  }

  void Check(PoolId pool, const Use& use) {
    const PoolValue value{.pool = pool, .value = use.value};
    if (pool == PoolId::kPorts) CheckPort(value, use);
    if (use.held->origin == Origin::kUnknown) return;
    for (const RangeRef& range : context_.RangesOf(value)) {
      const alloc::Layout& layout = range.row->layout;
      if (use.held->origin == Origin::kNamed && IsAtRisk(range, value)) {
        AddNamed(value, use, range);
        return;
      }
      if (use.held->origin == Origin::kDrawn && layout.BandOf(value.value) == Band::kStatic &&
          layout.BandSpan(Band::kDynamic)) {
        AddSpill(value, use, range);
        return;
      }
    }
  }

  static std::string NameOfUse(const PoolValue& value, const Use& use) {
    return NameOf(Asked{.value = value, .health_check = use.held->health_check});
  }
  static std::string ServiceOfUse(const Use& use) { return base::ToVisible(PathOf(*use.service)); }

  void AddNamed(const PoolValue& value, const Use& use, const RangeRef& range) {
    RunningItem* item = Count(RunningKind::kNamed, value, use);
    if (item == nullptr) return;
    item->range = range;
    item->message = DynamicBandText(NameOfUse(value, use), ServiceOfUse(use), range,
                                    *range.row->layout.BandSpan(Band::kDynamic));
    item->advice = "If it is deleted and created again, another Service may get the value first.";
    AddInstead(value, use, *item);
  }

  void AddInstead(const PoolValue& value, const Use& use, RunningItem& item) {
    // A band that has nothing left would be searched again for each value.
    if (nothing_left_[value.pool]) return;
    const auto safe = context_.safe().Propose(value, PathOf(*use.service), /*only_same=*/true);
    if (!safe) {
      nothing_left_[value.pool] = true;
      return;
    }
    if (!item.advice.empty()) item.advice += " ";
    item.advice += fmt::format("{} is free and in the static band.", alloc::TextOf(safe->value));
  }

  void AddSpill(const PoolValue& value, const Use& use, const RangeRef& range) {
    const RangeFigures& figures = context_.FiguresOf(range);
    if (figures.dynamic_band.PercentUsed() > kNearlyFullPercent) {
      Of(RunningKind::kSpill).severity = Severity::kWarning;
    }
    RunningItem* item = Count(RunningKind::kSpill, value, use);
    if (item == nullptr) return;
    item->range = range;
    item->message =
        fmt::format("{} of Service {} was drawn from the static band of {}", NameOfUse(value, use),
                    ServiceOfUse(use), base::ToVisible(TitleOf(range)));
  }

  void CheckPort(const PoolValue& value, const Use& use) {
    const auto port = static_cast<uint16_t>(value.value);
    const auto host = options_.host_ports.find(port);
    if (host != options_.host_ports.end()) {
      if (RunningItem* item = Count(RunningKind::kHostPort, value, use)) {
        item->message = HostPortText(NameOfUse(value, use), ServiceOfUse(use), host->second);
        AddInstead(value, use, *item);
      }
    }
    if (!options_.ephemeral.Contains(port)) return;
    if (RunningItem* item = Count(RunningKind::kEphemeral, value, use)) {
      item->message = EphemeralText(NameOfUse(value, use), ServiceOfUse(use), options_.ephemeral);
      AddInstead(value, use, *item);
    }
  }

  void CheckTwo(const Use& first, const Use& second) {
    if (!first.held->health_check && !second.held->health_check) return;
    const PoolValue& value = second.held->value;
    if (RunningItem* item = Count(RunningKind::kHealthCheck, value, second)) {
      item->message =
          fmt::format("{} of Service {} is also {} of Service {}", NameOfUse(value, second),
                      ServiceOfUse(second), NameOfUse(value, first), ServiceOfUse(first));
      item->advice = "Delete one of the Services and create it again without the port.";
    }
  }

  const Census& census_;
  const LintOptions& options_;
  LintContext context_;
  std::array<RunningFinding, kRunningKinds> findings_;
  alloc::PerPool<bool> nothing_left_ = {};
};

}  // namespace

std::vector<RunningFinding> CheckRunning(const Census& census, const RunningOptions& options) {
  const LintOptions lint{
      .ephemeral = options.ephemeral, .host_ports = options.host_ports, .has_cluster = true};
  return RunningChecker(census, lint).Run();
}

}  // namespace berth::inspect
