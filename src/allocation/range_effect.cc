#include "allocation/range_effect.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "allocation/range_blockers.h"
#include "allocation/range_facts.h"
#include "codec/encode.h"
#include "codec/read.h"
#include "registry/object_errors.h"
#include "rules/field_error.h"

namespace berth::allocation {
namespace {

using codec::Value;

/// The reason of a cause that names a value in use.
constexpr const char* kInUse = "InUse";

/// Returns the members of a range object that RangeFactsOf reads. They are the same in each attempt
/// of a change.
std::string WhatCounts(const registry::Row& row, const Value& range) {
  Value reduced = codec::Object();
  codec::CopyAt(reduced, range, {"metadata", "name"});
  codec::CopyAt(reduced, range, {"metadata", "deletionTimestamp"});
  codec::CopyAt(reduced, range, {"spec"});
  if (range.Find("status") != nullptr) codec::CopyAt(reduced, range, {"status", "conditions"});
  return codec::EncodeMessage(reduced, *row.kind->message);
}

/// Returns the rows of ranges that are not being deleted.
std::vector<alloc::RangeRow> Lasting(std::vector<alloc::RangeRow> rows) {
  std::erase_if(rows, [](const alloc::RangeRow& row) { return row.leaving; });
  return rows;
}

}  // namespace

std::string RangeKey(const registry::Row& row, std::string_view name) {
  return row.prefix + std::string(name);
}

bool IsSameRange(const RangeEdit& edit, const registry::Gates& gates) {
  if (edit.old == nullptr || edit.next == nullptr) return false;
  const Value* before = edit.old->Find("spec");
  const Value* after = edit.next->Find("spec");
  return before != nullptr && after != nullptr && *before == *after &&
         RangeFactsOf(*edit.row, *edit.old, gates) == RangeFactsOf(*edit.row, *edit.next, gates);
}

base::Result<RangeEffect> EffectOf(const RangeEdit& edit, const RangeWorld& world,
                                   const RecordRows& rows, const registry::Gates& gates) {
  auto companions = world.CompanionsOf(edit);
  if (!companions) return tl::unexpected(companions.error());
  RangeEffect effect{.companions = *std::move(companions)};
  alloc::RangeObjects facts = world.Facts();
  bool addresses = false;
  bool ports = false;
  const auto change = [&](const registry::Row& row, std::string_view name, const Value* next) {
    const std::string key = RangeKey(row, name);
    std::optional<alloc::RangeFacts> now;
    if (next != nullptr) now = RangeFactsOf(row, *next, gates);
    const auto before = facts.find(key);
    if (before != facts.end() && now && before->second == *now) return;
    (&row == rows.node_port_ranges ? ports : addresses) = true;
    if (before != facts.end()) {
      for (const auto& part : before->second.parts) {
        effect.losing[part.pool].push_back(part.row);
      }
    }
    effect.objects[key] = next == nullptr ? std::nullopt : std::optional(WhatCounts(row, *next));
    if (now) {
      facts[key] = *std::move(now);
    } else {
      facts.erase(key);
    }
  };
  change(*edit.row, edit.name, edit.next);
  for (const Companion& companion : effect.companions) {
    change(*companion.row, companion.name, companion.goes ? nullptr : &companion.object);
  }
  // The order of the families depends on all ranges of addresses.
  if (addresses) effect.pools = {PoolId::kIpv4, PoolId::kIpv6};
  if (ports) effect.pools.push_back(PoolId::kPorts);
  effect.after = alloc::MakeRangeTable(facts, {});
  for (const PoolId pool : effect.pools) {
    effect.keeping[pool] = Lasting(effect.after.rows[pool]);
    // A ServiceCIDR whose deletion begins keeps its values until it is removed.
    for (const alloc::RangeRow& row : effect.after.rows[pool]) {
      const bool keeps = row.leaving && row.name == edit.name && !IsGoing(edit, rows);
      if (keeps) effect.keeping[pool].push_back(row);
    }
    if (!alloc::CoversAll(effect.keeping[pool], effect.losing[pool]))
      effect.smaller.push_back(pool);
  }
  return effect;
}

std::optional<base::Error> FindBlocked(const RangeEdit& edit, const RangeEffect& effect,
                                       const RecordRows& rows, const state::Snapshot& snapshot,
                                       SpareKubernetes spare) {
  for (const PoolId pool : effect.smaller) {
    const Blockers blockers =
        FindBlockers(rows, snapshot, pool, effect.losing[pool], effect.keeping[pool], spare);
    if (blockers.total == 0) continue;
    const char* what = pool == PoolId::kPorts ? "ports" : "addresses";
    const std::string held = fmt::format("{} of its {} would be outside of every range: {}",
                                         blockers.total, what, BlockersText(blockers));
    if (IsGoing(edit, rows) || edit.resets) {
      base::Error error = registry::Conflict(*edit.row->kind, edit.name, held);
      for (const std::string& one : blockers.named) {
        error.causes.push_back({.reason = kInUse, .message = one, .field = {}});
      }
      return error;
    }
    rules::FieldErrors errors;
    errors.Invalid(rules::Path("spec.range"), codec::StringAt(*edit.next, "spec", "range"), held);
    return registry::InvalidObject(errors, *edit.row->kind, edit.name);
  }
  return std::nullopt;
}

}  // namespace berth::allocation
