// What would be if a range had other values.
#include <fmt/format.h>

#include <algorithm>

#include "berth/inspect/blockers_text.h"
#include "berth/inspect/document_parts.h"
#include "berth/inspect/growth_text.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "inspect/names.h"
#include "inspect/what_if.h"

namespace berth::cli {
namespace {

using codec::Object;
using codec::Value;
using inspect::Blocker;

constexpr size_t kMostBlockers = 100;

Value FutureDocument(alloc::PoolId pool, const inspect::RangeFuture& future) {
  const auto bound = [pool](const inspect::BandFigures& band, bool last) {
    if (!band.span) return Value();
    return ValueTextOf(pool, last ? band.span->last : band.span->first);
  };
  const inspect::RangeFigures& figures = future.figures;
  return Object{{"range", future.text},
                {"size", SizeText(future.all)},
                {"usable", CountText(figures.Usable())},
                {"free", CountText(figures.Free())},
                {"percentUsed", figures.PercentUsed()},
                {"staticFirst", bound(figures.static_band, false)},
                {"staticLast", bound(figures.static_band, true)},
                {"dynamicFirst", bound(figures.dynamic_band, false)},
                {"dynamicLast", bound(figures.dynamic_band, true)},
                {"dynamicFree", CountText(figures.dynamic_band.counts[alloc::State::kFree])},
                {"fullIn", FullInText(future.full)}};
}

/// Returns who has the value, or for whom it is kept.
Value OwnerOfBlocker(const Blocker& blocker) {
  if (blocker.service != nullptr) return inspect::PathOf(*blocker.service);
  return StringOrNull(blocker.record->facts.reserved_for);
}

Value BlockerList(const std::vector<const Blocker*>& blockers) {
  codec::Array array;
  for (const Blocker* blocker : blockers) {
    array.push_back(Object{{"value", alloc::TextOf(blocker->value)},
                           {"service", OwnerOfBlocker(*blocker)},
                           {"effort", inspect::NameOf(blocker->effort())},
                           {"why", WhyText(*blocker)},
                           {"advice", inspect::AdviceOn(blocker->obstacles.front())}});
  }
  return array;
}

/// Returns what the server would do about each family, each sentence once.
std::string OutcomeOfAll(const std::vector<inspect::Blockers>& answers) {
  const auto blocks = [](const inspect::Blockers& each) { return !each.blockers.empty(); };
  std::string out;
  for (const inspect::Blockers& each : answers) {
    // Where something is in the way, only that counts.
    if (std::ranges::any_of(answers, blocks) && !blocks(each)) continue;
    const std::string text = OutcomeText(each, /*others=*/false);
    if (out.find(text) == std::string::npos) out += (out.empty() ? "" : " ") + text;
    if (!blocks(each)) break;
  }
  return out;
}

Object EmptyAnswer(const Scene& scene, const inspect::TopRange& range) {
  return {{"seq", scene.seq()},
          {"error", Value()},
          {"now", FutureDocument(range.ref.pool, inspect::FutureNow(range))},
          {"then", Value()},
          {"blockerCount", 0},
          {"blockers", codec::Array()},
          {"outcome", ""},
          {"notes", codec::Array()},
          {"commands", codec::Array()}};
}

}  // namespace

base::Result<Value> WhatIfDocument(const Scene& scene, std::string_view key,
                                   const std::vector<std::string>& to) {
  const auto range = RangeOfKey(scene, key);
  if (!range) return tl::unexpected(range.error());
  Object object = EmptyAnswer(scene, **range);
  const auto answer = inspect::AskWhatIf(scene.census(), **range, to);
  if (!answer) {
    object.Set("error", answer.error().message);
    return Value(std::move(object));
  }
  std::vector<const Blocker*> blockers;
  for (const inspect::Blockers& each : answer->blockers) {
    for (const Blocker& blocker : each.blockers) blockers.push_back(&blocker);
  }
  object.Set("blockerCount", uint64_t{blockers.size()});
  std::ranges::stable_sort(blockers, std::ranges::greater{},
                           [](const Blocker* blocker) { return blocker->effort(); });
  if (blockers.size() > kMostBlockers) blockers.resize(kMostBlockers);
  object.Set("then", FutureDocument((*range)->ref.pool, answer->then));
  object.Set("blockers", BlockerList(blockers));
  object.Set("outcome", OutcomeOfAll(answer->blockers));
  codec::Array notes;
  for (const std::string& note : answer->notes) notes.emplace_back(note);
  object.Set("notes", std::move(notes));
  object.Set("commands", CommandsDocument(answer->commands));
  return Value(std::move(object));
}

}  // namespace berth::cli
