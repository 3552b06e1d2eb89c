#include "audit/findings.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace berth::audit {
namespace {

bool IsBefore(const alloc::PoolValue& a, const alloc::PoolValue& b) {
  return std::tie(a.pool, a.value) < std::tie(b.pool, b.value);
}

}  // namespace

void Findings::Add(FindingKind kind, const alloc::PoolValue& value) {
  OfKind& of_kind = kinds_[static_cast<size_t>(kind)];
  ++of_kind.count;
  std::vector<alloc::PoolValue>& values = of_kind.values;
  if (values.size() == kMaxFindings) {
    if (!IsBefore(value, values.front())) return;
    std::ranges::pop_heap(values, IsBefore);
    values.pop_back();
  }
  values.push_back(value);
  std::ranges::push_heap(values, IsBefore);
}

void Findings::Add(Finding finding) {
  OfKind& of_kind = kinds_[static_cast<size_t>(finding.kind)];
  ++of_kind.count;
  if (of_kind.others.size() < kMaxFindings) of_kind.others.push_back(std::move(finding));
}

void Findings::MoveTo(
    Report& report,
    const std::function<Finding(FindingKind kind, const alloc::PoolValue& value)>& describe) && {
  for (size_t kind = 0; kind < kFindingKinds; ++kind) {
    OfKind& of_kind = kinds_[kind];
    report.counts[kind] = of_kind.count;
    std::ranges::sort_heap(of_kind.values, IsBefore);
    for (const alloc::PoolValue& value : of_kind.values) {
      report.findings.push_back(describe(static_cast<FindingKind>(kind), value));
    }
    std::ranges::move(of_kind.others, std::back_inserter(report.findings));
  }
}

}  // namespace berth::audit
