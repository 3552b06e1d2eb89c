#include "inspect/blockers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "alloc/range_table.h"
#include "base/go_text.h"
#include "inspect/names.h"
#include "inspect/range_part.h"

namespace berth::inspect {
namespace {

using alloc::Interval;
using alloc::PoolId;
using alloc::RangeKind;
using base::Result;
using base::U128;

constexpr std::string_view kServiceCidrOfFlags = "kubernetes";

/// The values that shall leave, and the ranges that have them now.
struct Target {
  PoolId pool = PoolId::kIpv4;
  Interval values = {};
  std::string title = {};
  std::vector<RangeRef> leaving = {};
  bool whole = true;
  std::string leaves_with = {};
};

Result<std::vector<Target>> TargetsOf(const Census& census, const std::string& text) {
  std::vector<Target> targets;
  auto parts = FindParts(census, text);
  if (parts) {
    for (const RangePart& part : *parts) {
      const bool whole = part.values == AllValuesOf(*part.range.row);
      // Two objects may have the same values. All of them leave together.
      const bool known = !targets.empty() && targets.back().pool == part.range.pool &&
                         targets.back().values == part.values;
      if (!known) {
        targets.push_back({.pool = part.range.pool,
                           .values = part.values,
                           .title = whole ? TitleOf(part.range) : text,
                           .whole = whole});
      }
      targets.back().leaving.push_back(part.range);
    }
    return targets;
  }
  // A CIDR may contain whole ranges.
  const auto written = ReadWrittenRange(text);
  if (!written || !*written) return tl::unexpected(parts.error());
  Target target{.pool = (*written)->pool, .values = (*written)->values, .title = (*written)->text};
  for (const RangeRef& range : census.ranges()) {
    if (range.pool != target.pool) continue;
    const auto common = alloc::Intersection(AllValuesOf(*range.row), target.values);
    if (!common) continue;
    target.leaving.push_back(range);
    target.whole = target.whole && *common == AllValuesOf(*range.row);
  }
  if (target.leaving.empty()) return tl::unexpected(parts.error());
  targets.push_back(std::move(target));
  return targets;
}

/// Adds the other families of ServiceCIDRs that leave as a whole.
void AddOtherFamilies(const Census& census, std::vector<Target>& targets) {
  std::vector<Target> others;
  for (const Target& target : targets) {
    for (const RangeRef& leaving : target.leaving) {
      if (!target.whole || leaving.range == nullptr) continue;
      for (const RangeRef& range : census.ranges()) {
        const auto has = [&range](const Target& each) { return each.pool == range.pool; };
        if (range.range != leaving.range || std::ranges::any_of(targets, has) ||
            std::ranges::any_of(others, has)) {
          continue;
        }
        others.push_back({.pool = range.pool,
                          .values = AllValuesOf(*range.row),
                          .title = TitleOf(range),
                          .leaving = {range},
                          .leaves_with = range.range->facts.object.name});
      }
    }
  }
  std::ranges::move(others, std::back_inserter(targets));
}

Result<WrittenRange> ReadTo(const Census& census, const std::string& text) {
  auto written = ReadWrittenRange(text);
  if (!written) return base::Fail(base::Reason::kInvalid, "--to " + written.error().message);
  if (*written) return **std::move(written);
  for (const RangeRef& range : census.ranges()) {
    if (range.row->name != text) continue;
    return WrittenRange{
        .pool = range.pool, .values = AllValuesOf(*range.row), .text = range.row->text};
  }
  return base::Fail(
      base::Reason::kInvalid,
      fmt::format("--to {}: must be a CIDR, a port range or the name of a range; the ranges are {}",
                  base::GoQuoted(text), RangeList(census)));
}

/// Returns the layout of a range with these values, as Kubernetes' formulas make it.
Result<alloc::Layout> LayoutOfText(const WrittenRange& range) {
  if (range.pool != PoolId::kPorts) return alloc::LayoutOf(ip::ParseCidr(range.text).value());
  return alloc::LayoutOf(ip::ParsePortRange(range.text).value());
}

/// Returns the rows that remain after the change.
std::vector<alloc::RangeRow> RowsAfter(const Census& census, const Target& target,
                                       const std::optional<WrittenRange>& to) {
  std::vector<alloc::RangeRow> rows;
  for (const RangeRef& range : census.ranges()) {
    if (range.pool != target.pool || range.row->leaving) continue;
    const bool leaves = std::ranges::any_of(
        target.leaving, [&](const RangeRef& other) { return other.row == range.row; });
    if (!leaves) rows.push_back(*range.row);
  }
  if (to) {
    if (auto layout = LayoutOfText(*to)) rows.push_back({.layout = *std::move(layout)});
  }
  return rows;
}

bool IsDns(const audit::ObjectRef& object) {
  return object.name_space == "kube-system" &&
         (object.name == "kube-dns" || object.name == "coredns");
}

std::vector<Obstacle> ObstaclesOf(const Service& service, const Held& held) {
  if (service.deleting) return {Obstacle::kDeleting};
  const bool port = held.value.pool == PoolId::kPorts;
  std::vector<Obstacle> all;
  const auto add = [&all](bool applies, Obstacle obstacle) {
    if (applies) all.push_back(obstacle);
  };
  const auto& object = service.object;
  add(object.name_space == "default" && object.name == "kubernetes", Obstacle::kApiServer);
  add(IsDns(object) && !port, Obstacle::kClusterDns);
  add(held.origin == Origin::kNamed, Obstacle::kNamed);
  add(!service.controller.empty(), Obstacle::kController);
  add(!service.tool.empty(), Obstacle::kTool);
  add(held.health_check, Obstacle::kHealthCheck);
  add(!port && service.type == "LoadBalancer", Obstacle::kLoadBalancer);
  add(held.origin == Origin::kUnknown, Obstacle::kUnknownOrigin);
  add(port && !held.health_check, Obstacle::kNodePort);
  add(all.empty(), Obstacle::kPlain);
  return all;
}

bool IsTargetOfBerth(const Census& census, const Target& target) {
  return std::ranges::any_of(target.leaving, [&census](const RangeRef& range) {
    return IsOfBerth(census.cluster(), range);
  });
}

/// Returns whether a record that no Service belongs to stops the change. Kubernetes waits only for
/// records that its own allocator has made.
std::optional<Obstacle> ObstacleOf(const Record& record, bool berth) {
  switch (record.facts.state) {
    case rules::RecordState::kAllocated:
      return Obstacle::kOrphan;
    case rules::RecordState::kReserved:
    case rules::RecordState::kPending:
      return berth ? std::optional(Obstacle::kReservation) : std::nullopt;
    case rules::RecordState::kFree:
      break;
  }
  return std::nullopt;
}

/// Returns whether the API servers of Kubernetes make the range again when it is gone.
bool IsMadeAgain(const Target& target, bool berth) {
  return !berth && target.whole && std::ranges::any_of(target.leaving, [](const RangeRef& range) {
    return range.row->kind == RangeKind::kServiceCidr && range.row->name == kServiceCidrOfFlags;
  });
}

Outcome OutcomeOf(const Blockers& answer, bool berth) {
  if (answer.blockers.empty()) return Outcome::kAccepted;
  if (berth) return Outcome::kRefused;
  return answer.pool == PoolId::kPorts ? Outcome::kUnchecked : Outcome::kWaits;
}

void AddServices(const Census& census, const Target& target, const alloc::Coverage& after,
                 Blockers& answer) {
  const auto uses = census.UsesIn(target.pool, target.values);
  for (size_t i = 0; i < uses.size(); ++i) {
    const Use& use = uses[i];
    if (i == 0 || uses[i - 1].value != use.value) ++answer.values_in_use;
    if (after.Covers(use.value)) continue;
    answer.blockers.push_back({.value = {.pool = target.pool, .value = use.value},
                               .service = use.service,
                               .held = use.held,
                               .obstacles = ObstaclesOf(*use.service, *use.held)});
  }
  // The Services of a cluster are ordered by namespace and name, and so are pointers to them.
  std::ranges::stable_sort(answer.blockers, {}, &Blocker::service);
  const Service* before = nullptr;
  for (const Blocker& blocker : answer.blockers) {
    answer.services += blocker.service != before ? 1 : 0;
    before = blocker.service;
  }
}

void AddRecords(const Census& census, const Target& target, const alloc::Coverage& after,
                bool berth, Blockers& answer) {
  for (const Record* record : census.RecordsIn(target.pool, target.values)) {
    const alloc::PoolValue& value = record->facts.value;
    if (after.Covers(value.value) || !census.UsesOf(value).empty()) continue;
    const auto obstacle = ObstacleOf(*record, berth);
    if (obstacle) {
      ++answer.records;
      answer.blockers.push_back({.value = value, .record = record, .obstacles = {*obstacle}});
    } else if (record->facts.state != rules::RecordState::kFree) {
      ++answer.left_behind;
    }
  }
}

Blockers BlockersOf(const Census& census, Target target, const std::optional<WrittenRange>& to) {
  const bool berth = IsTargetOfBerth(census, target);
  const alloc::Coverage after(RowsAfter(census, target, to));
  Blockers answer{.to = to,
                  .title = target.title,
                  .pool = target.pool,
                  .whole = target.whole,
                  .leaves_with = target.leaves_with,
                  .made_again = IsMadeAgain(target, berth)};
  AddServices(census, target, after, answer);
  AddRecords(census, target, after, berth, answer);
  for (const Blocker& blocker : answer.blockers) {
    ++answer.by_effort[static_cast<size_t>(blocker.effort())];
  }
  answer.outcome = OutcomeOf(answer, berth);
  answer.leaving = std::move(target.leaving);
  return answer;
}

}  // namespace

bool IsOfBerth(const Cluster& cluster, const RangeRef& range) {
  if (cluster.server != ServerKind::kUnknown) return cluster.server == ServerKind::kBerth;
  if (range.row->kind == RangeKind::kIpRange) return true;
  // A port range that an object of Berth describes has a name of its own.
  return range.row->kind == RangeKind::kNodePortRange && range.row->name != range.row->text;
}

Result<std::vector<Blockers>> FindBlockers(const Census& census, const BlockersQuestion& question) {
  auto targets = TargetsOf(census, question.range);
  if (!targets) return tl::unexpected(targets.error());
  AddOtherFamilies(census, *targets);
  alloc::PerPool<std::optional<WrittenRange>> replaced = {};
  for (const std::string& text : question.to) {
    auto to = ReadTo(census, text);
    if (!to) return tl::unexpected(to.error());
    const auto bad = [&text](std::string_view why) {
      return base::Fail(base::Reason::kInvalid,
                        fmt::format("--to {}: {}", base::GoQuoted(text), why));
    };
    const bool fits = std::ranges::any_of(
        *targets, [&to](const Target& target) { return target.pool == to->pool; });
    if (!fits) {
      return bad(
          fmt::format("must have values of the same kind as {}", base::GoQuoted(question.range)));
    }
    std::optional<WrittenRange>& of_family = replaced[to->pool];
    if (of_family) return bad("give at most one range of each family");
    of_family = *std::move(to);
  }
  std::vector<Blockers> answers;
  for (Target& target : *targets) {
    const std::optional<WrittenRange>& to = replaced[target.pool];
    answers.push_back(BlockersOf(census, std::move(target), to));
  }
  return answers;
}

std::vector<Blockers> FindBlockersOf(const Census& census, const RangeRef& range,
                                     const std::vector<WrittenRange>& to) {
  std::vector<Target> targets = {{.pool = range.pool,
                                  .values = AllValuesOf(*range.row),
                                  .title = TitleOf(range),
                                  .leaving = {range}}};
  AddOtherFamilies(census, targets);
  std::vector<Blockers> answers;
  for (Target& target : targets) {
    const auto found = std::ranges::find(to, target.pool, &WrittenRange::pool);
    answers.push_back(BlockersOf(census, std::move(target),
                                 found == to.end() ? std::nullopt : std::optional(*found)));
  }
  return answers;
}

}  // namespace berth::inspect
