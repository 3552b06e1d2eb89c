#include "alloc/range_table.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <list>
#include <string_view>
#include <utility>

namespace berth::alloc {
namespace {

constexpr std::string_view kDefaultServiceCidr = "kubernetes";

using FactsPtrs = std::vector<const RangeFacts*>;

/// Returns what a range that is closing in a pool has both before and after the change.
RangeFacts InCommon(const RangeFacts& now, const std::optional<RangeFacts>& next, PoolId pool) {
  RangeFacts common = now;
  common.parts.clear();
  for (const RangeFacts::Part& part : now.parts) {
    for (size_t i = 0; part.pool == pool && next && i < next->parts.size(); ++i) {
      const RangeFacts::Part& after = next->parts[i];
      if (after.pool != pool || !after.row.layout.span()) continue;
      auto layout = part.row.layout.Within(*after.row.layout.span());
      if (!layout) continue;
      common.parts.push_back(part);
      common.parts.back().row.layout = *std::move(layout);
    }
  }
  return common;
}

/// Closes the rows of the IPRanges that the default ServiceCIDR stands for while it is being
/// deleted, if another row can serve.
void CloseThoseThatLeave(const FactsPtrs& facts, std::vector<RangeRow>& rows) {
  absl::flat_hash_set<std::string_view> leaving;
  for (const RangeFacts* each : facts) {
    for (const RangeFacts::Part& part : each->parts) {
      const bool is_default =
          each->kind == RangeKind::kServiceCidr && part.row.name == kDefaultServiceCidr;
      if (is_default && part.row.leaving) leaving.insert(part.row.text);
    }
  }
  if (leaving.empty()) return;
  const bool others_serve = std::any_of(rows.begin(), rows.end(), [&](const RangeRow& row) {
    return row.open && row.layout.span() && !leaving.contains(row.text);
  });
  for (RangeRow& row : rows) {
    row.makes_way = row.open && others_serve && leaving.contains(row.text);
    row.open = row.open && !row.makes_way;
  }
}

std::vector<RangeRow> RowsIn(const FactsPtrs& facts, PoolId pool) {
  absl::flat_hash_set<std::string_view> claimed;
  for (const RangeFacts* each : facts) {
    if (each->kind != RangeKind::kIpRange) continue;
    for (const RangeFacts::Part& part : each->parts) claimed.insert(part.row.text);
  }
  std::vector<RangeRow> rows;
  for (const RangeFacts* each : facts) {
    for (const RangeFacts::Part& part : each->parts) {
      if (part.pool != pool) continue;
      if (each->kind == RangeKind::kServiceCidr && claimed.contains(part.row.text)) continue;
      rows.push_back(part.row);
      rows.back().kind = each->kind;
    }
  }
  CloseThoseThatLeave(facts, rows);
  return rows;
}

std::vector<RangeRow> RowsWhileClosing(const RangeObjects& objects, const Closing& closing,
                                       PoolId pool) {
  FactsPtrs facts;
  std::list<RangeFacts> changing;
  for (const auto& [key, now] : objects) {
    const auto next = closing.next.find(key);
    facts.push_back(next == closing.next.end()
                        ? &now
                        : &changing.emplace_back(InCommon(now, next->second, pool)));
  }
  return RowsIn(facts, pool);
}

bool HasOpen(const std::vector<RangeRow>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const RangeRow& row) { return row.open; });
}

/// Returns the pools of all families that range objects have. Those of the objects that decide the
/// order come first.
std::vector<PoolId> PoolsInOrder(const RangeObjects& objects) {
  std::vector<PoolId> pools;
  const auto add = [&pools](const RangeFacts& facts) {
    for (const RangeFacts::Part& part : facts.parts) {
      if (part.pool != PoolId::kPorts) pools.push_back(part.pool);
    }
  };
  for (const auto& [key, facts] : objects) {
    if (facts.kind == RangeKind::kIpRange && facts.primary) add(facts);
  }
  for (const auto& [key, facts] : objects) {
    if (facts.kind == RangeKind::kServiceCidr && !facts.parts.empty() &&
        facts.parts.front().row.name == kDefaultServiceCidr) {
      add(facts);
    }
  }
  for (const auto& [key, facts] : objects) add(facts);
  return pools;
}

std::vector<ip::Family> FamiliesOf(const std::vector<PoolId>& pools,
                                   const PerPool<bool>& has_open) {
  std::vector<ip::Family> families;
  for (const PoolId pool : pools) {
    if (!has_open[pool]) continue;
    const auto family = pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
    if (std::find(families.begin(), families.end(), family) == families.end()) {
      families.push_back(family);
    }
  }
  return families;
}

/// Appends what a layout covers: its span without the holes in it.
void AddCovered(const Layout& layout, std::vector<Interval>& out) {
  if (!layout.span()) return;
  Interval rest = *layout.span();
  for (const Unusable& hole : layout.unusable()) {  // In ascending order.
    if (!Intersection(hole.values, rest)) continue;
    if (hole.values.first > rest.first) out.push_back({rest.first, hole.values.first - 1});
    if (hole.values.last >= rest.last) return;
    rest.first = hole.values.last + 1;
  }
  out.push_back(rest);
}

}  // namespace

RangeTable MakeRangeTable(const RangeObjects& objects, const Closings& closings) {
  RangeTable table;
  PerPool<bool> has_open = {};
  FactsPtrs stored;
  for (const auto& [key, each] : objects) stored.push_back(&each);
  for (const PoolId pool : kAllPools) {
    table.rows[pool] = RowsIn(stored, pool);
    has_open[pool] = HasOpen(table.rows[pool]);
    table.closing[pool] = closings[pool].has_value();
    if (closings[pool]) table.rows[pool] = RowsWhileClosing(objects, *closings[pool], pool);
  }
  const std::vector<PoolId> pools = PoolsInOrder(objects);
  table.families = FamiliesOf(pools, has_open);
  if (!pools.empty()) table.primary = pools.front();
  return table;
}

Coverage::Coverage(const std::vector<RangeRow>& rows) {
  parts_.reserve(rows.size());
  for (const RangeRow& row : rows) AddCovered(row.layout, parts_);
  parts_ = MergedIntervals(std::move(parts_));
}

bool Coverage::Covers(U128 value) const {
  const auto part = std::partition_point(parts_.begin(), parts_.end(),
                                         [value](const Interval& p) { return p.last < value; });
  return part != parts_.end() && part->first <= value;
}

bool Coverage::CoversAll(const Coverage& other) const {
  auto at = parts_.begin();
  for (const Interval& needed : other.parts_) {  // Parts do not touch: one must hold it whole.
    while (at != parts_.end() && at->last < needed.first) ++at;
    if (at == parts_.end() || at->first > needed.first || at->last < needed.last) return false;
  }
  return true;
}

bool Covers(const std::vector<RangeRow>& rows, U128 value) { return Coverage(rows).Covers(value); }

bool CoversAll(const std::vector<RangeRow>& after, const std::vector<RangeRow>& before) {
  return Coverage(after).CoversAll(Coverage(before));
}

}  // namespace berth::alloc
