#include "inspect/what_if.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/go_text.h"
#include "inspect/forecast.h"
#include "inspect/names.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "rules/range_spec.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::RangeKind;
using base::Result;

constexpr std::string_view kDefaultCidr = "kubernetes";

tl::unexpected<base::Error> Unfit(std::string_view text, std::string_view why) {
  return base::Fail(base::Reason::kInvalid, fmt::format("{}: {}", base::GoQuoted(text), why));
}

WrittenRange WrittenOf(const RangeRef& range) {
  return {.pool = range.pool, .values = AllValuesOf(*range.row), .text = range.row->text};
}

/// Returns the ranges of the same object, the given one first.
std::vector<RangeRef> FamiliesOf(const Census& census, const RangeRef& range) {
  std::vector<RangeRef> families = {range};
  for (const RangeRef& other : census.ranges()) {
    const bool same = range.range != nullptr && other.range == range.range;
    if (same && other.pool != range.pool) families.push_back(other);
  }
  return families;
}

Result<WrittenRange> ReadNext(std::string_view text) {
  text = base::GoTrimSpace(text);
  auto written = ReadWrittenRange(text);
  if (!written) return tl::unexpected(written.error());
  if (*written) return **std::move(written);
  // One port is a range, too.
  if (const auto port = ip::ParsePortRange(text)) {
    return WrittenRange{.pool = PoolId::kPorts,
                        .values = {.first = port->first(), .last = port->last()},
                        .text = port->ToString()};
  }
  return Unfit(text, "must be a CIDR or a range of ports");
}

/// Returns why the server would not accept the range, or an empty text.
std::string WhyRefused(const WrittenRange& range, bool berth) {
  constexpr int kLargestIpv6 = 64;
  const rules::Problems problems = range.pool == PoolId::kPorts
                                       ? rules::NodePortRangeProblems(range.text)
                                       : rules::IpRangeProblems(range.text);
  if (!problems.empty()) return problems.front();
  if (berth || range.pool != PoolId::kIpv6) return {};
  const bool large = ip::ParseCidr(range.text)->prefix_length() < kLargestIpv6;
  return large ? "Kubernetes gives no addresses out of IPv6 ranges that are larger than a /64" : "";
}

/// Returns what there would be of each family, in the order of `families`.
Result<std::vector<WrittenRange>> ReadAll(const std::vector<RangeRef>& families,
                                          const std::vector<std::string>& texts, bool berth) {
  std::vector<WrittenRange> all;
  for (const RangeRef& family : families) all.push_back(WrittenOf(family));
  std::vector<bool> given(all.size());
  bool differs = false;
  for (const std::string& text : texts) {
    auto next = ReadNext(text);
    if (!next) return tl::unexpected(next.error());
    const auto at =
        static_cast<size_t>(std::ranges::find(all, next->pool, &WrittenRange::pool) - all.begin());
    if (at == all.size()) {
      return Unfit(text, fmt::format("must have values of the same kind as {}", all[0].text));
    }
    if (given[at]) return Unfit(text, "give at most one range of each family");
    given[at] = true;
    if (next->values == all[at].values) continue;
    if (const std::string why = WhyRefused(*next, berth); !why.empty()) return Unfit(text, why);
    differs = true;
    all[at] = *std::move(next);
  }
  if (!differs) return Unfit(texts.empty() ? "" : texts.front(), "this is what the range is now");
  return all;
}

bool ContainsOld(const WrittenRange& next, const RangeRef& old) {
  const alloc::Interval values = AllValuesOf(*old.row);
  return next.values.first <= values.first && values.last <= next.values.last;
}

/// Says what a person must know before a ServiceCIDR is replaced.
void AddCidrNotes(const std::vector<RangeRef>& families, WhatIf& answer) {
  const RangeRef& range = families.front();
  bool larger = true;
  for (size_t i = 0; i < families.size(); ++i) {
    larger = larger && ContainsOld(answer.to[i], families[i]);
    if (answer.to[i].text != families[i].row->text) continue;
    answer.notes.push_back(fmt::format(
        "A ServiceCIDR is replaced as a whole, so the new one has {} too. It can get another range "
        "in the same step.",
        answer.to[i].text));
  }
  if (larger) {
    answer.notes.emplace_back(
        "The new range has all values of the old one. So the old ServiceCIDR may also stay.");
  }
  if (range.row->name != kDefaultCidr) return;
  std::string flag;
  for (const alloc::RangeFacts::Part& part : range.range->facts.range.parts) {
    const auto next = std::ranges::find(answer.to, part.pool, &WrittenRange::pool);
    flag += (flag.empty() ? "" : ",") + (next == answer.to.end() ? part.row.text : next->text);
  }
  answer.notes.push_back(
      fmt::format("The API servers make the ServiceCIDR kubernetes again from their flag. So the "
                  "last step is to restart each with --service-cluster-ip-range={}.",
                  flag));
}

void AddNotes(const Census& census, const std::vector<RangeRef>& families, WhatIf& answer) {
  const RangeRef& range = families.front();
  const bool berth = IsOfBerth(census.cluster(), range);
  if (range.row->leaving) {
    answer.notes.emplace_back("The range is being deleted, so it is not changed any more.");
  } else if (range.pool == PoolId::kPorts && !berth) {
    answer.notes.emplace_back(
        "The range of node ports is a flag of the API servers. No object has it, and all API "
        "servers need the same.");
  } else if (range.range == nullptr || range.range->given) {
    answer.notes.emplace_back(
        "No object of the cluster has this range: it comes from a flag or is assumed. So there is "
        "no command that changes it.");
  } else if (range.row->kind == RangeKind::kServiceCidr) {
    AddCidrNotes(families, answer);
  }
  for (const Blockers& each : answer.blockers) {
    if (each.left_behind == 0) continue;
    answer.notes.push_back(
        fmt::format("IPAddresses that were made by hand stay when the range is gone ({} of them).",
                    each.left_behind));
  }
}

}  // namespace

RangeFuture FutureNow(const TopRange& range) {
  return {.text = range.ref.row->text,
          .all = AllValuesOf(*range.ref.row),
          .figures = range.figures,
          .full = range.full};
}

Result<WhatIf> AskWhatIf(const Census& census, const TopRange& range,
                         const std::vector<std::string>& to) {
  const std::vector<RangeRef> families = FamiliesOf(census, range.ref);
  const bool berth = IsOfBerth(census.cluster(), range.ref);
  auto next = ReadAll(families, to, berth);
  if (!next) return tl::unexpected(next.error());
  WhatIf answer{.to = *std::move(next), .now = FutureNow(range)};
  const WrittenRange& first = answer.to.front();
  answer.then = answer.now;
  if (first.text != range.ref.row->text) {
    const auto row = ResizedRow(*range.ref.row, first.text);
    if (!row) return Unfit(first.text, row.error().message);
    const RangeRef ref{.pool = range.ref.pool, .row = &*row, .range = range.ref.range};
    answer.then = {.text = first.text, .all = AllValuesOf(*row), .figures = census.FiguresOf(ref)};
    answer.then.full = FullAfter(answer.then.figures.Free(), range.growth);
  }
  answer.blockers = FindBlockersOf(census, range.ref, answer.to);
  const bool blocked = std::ranges::any_of(
      answer.blockers, [](const Blockers& each) { return !each.blockers.empty(); });
  AddNotes(census, families, answer);
  answer.commands = ChangeCommands(census.cluster(), range.ref, answer.to, blocked);
  return answer;
}

}  // namespace berth::inspect
