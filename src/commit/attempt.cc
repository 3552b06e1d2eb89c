#include "commit/attempt.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "codec/slot.h"
#include "commit/outcome.h"
#include "state/object.h"

namespace berth::commit {
namespace {

/// Asks the guards in order. Returns the first error.
std::optional<base::Error> Ask(const std::vector<Guard>& guards, const state::Snapshot& snapshot,
                               Attempt& attempt) {
  for (const Guard& guard : guards) {
    attempt.guarded.push_back({.key = &guard.key, .object = snapshot.Find(guard.key)});
    std::optional<base::Error> refusal = guard.check(attempt.guarded.back().object);
    attempt.refused_by_guard = refusal.has_value();
    if (refusal) return refusal;
  }
  return std::nullopt;
}

/// Adds the compare unless the key is compared already. A transaction compares a key once. The
/// first compare of a key counts: that of the object, then those of guards. They are of one
/// snapshot.
void AddCompare(store::Txn& txn, std::string key, int64_t revision) {
  const bool known = std::any_of(txn.compares.begin(), txn.compares.end(),
                                 [&key](const store::Compare& have) { return have.key == key; });
  if (!known) txn.compares.push_back({.key = std::move(key), .revision = {revision}});
}

void AddExpectation(Attempt& attempt, state::Expectation expectation) {
  attempt.expected.push_back(std::make_shared<state::Expectation>(std::move(expectation)));
}

/// Moves the puts of keys with a fixed slot after all other puts, in the order of their slots.
/// Updates `object_put`, the index of the object's put.
void SortFixedSlotsLast(std::vector<store::Put>& puts, size_t& object_put) {
  const auto slot_of = [](const store::Put& put) { return codec::FixedSlot(put.key).value_or(0); };
  const bool sorted =
      std::ranges::none_of(puts, [&](const store::Put& put) { return slot_of(put) != 0; });
  if (sorted) return;
  const std::string key = object_put < puts.size() ? puts[object_put].key : "";
  std::vector<store::Put> first;
  std::vector<store::Put> fixed;
  for (store::Put& put : puts) (slot_of(put) != 0 ? fixed : first).push_back(std::move(put));
  std::ranges::sort(fixed, {}, slot_of);
  std::ranges::move(fixed, std::back_inserter(first));
  puts = std::move(first);
  const auto now = std::ranges::find(puts, key, &store::Put::key);
  object_put = static_cast<size_t>(now - puts.begin());
}

}  // namespace

std::optional<Refusal> Decide(const Write& write, const state::Snapshot& snapshot,
                              const state::Follower& follower, Attempt& attempt) {
  attempt.decision = {};
  attempt.guarded.clear();
  attempt.refused_by_guard = false;
  attempt.current = snapshot.Find(write.key);
  if (auto refusal = Ask(write.guards, snapshot, attempt)) {
    const Attempt::Guarded& last = attempt.guarded.back();
    if (!last.object && follower.IsUndecodable(*last.key)) return UndecodableError(*last.key);
    return refusal;
  }
  if (!attempt.current && follower.IsUndecodable(write.key)) {
    return UndecodableError(write.key);
  }
  Decided decision = write.transform(snapshot, attempt.current);
  if (!decision) return std::move(decision.error());
  attempt.decision = std::move(*decision);
  const bool absent = attempt.decision.kind == Decision::Kind::kDelete && !attempt.current;
  if (absent) attempt.decision.kind = Decision::Kind::kNothing;
  return Ask(attempt.decision.guards, snapshot, attempt);
}

store::Txn MakeTxn(const std::string& key, Attempt& attempt) {
  store::Txn txn;
  Decision& decision = attempt.decision;
  const int64_t before = state::RevisionOf(attempt.current);
  txn.compares.reserve(1 + attempt.guarded.size() + decision.puts.size() + decision.deletes.size() +
                       decision.compares.size());
  txn.puts.reserve(1 + decision.puts.size());
  attempt.expected.reserve(1 + decision.puts.size());
  AddCompare(txn, key, before);
  for (const Attempt::Guarded& guarded : attempt.guarded) {
    AddCompare(txn, *guarded.key, state::RevisionOf(guarded.object));
  }
  const bool puts = decision.kind == Decision::Kind::kPut;
  AddExpectation(attempt, {.key = key,
                           .stored = decision.stored,
                           .deletes = !puts,
                           .before = before,
                           .wire = decision.wire});
  for (ExtraPut& extra : decision.puts) {
    if (extra.expected) AddCompare(txn, extra.key, *extra.expected);
    AddExpectation(attempt,
                   {.key = extra.key, .stored = extra.stored, .wire = std::move(extra.wire)});
    txn.puts.push_back(
        {.key = std::move(extra.key), .value = std::move(extra.stored), .ttl = extra.ttl});
  }
  attempt.object_put = txn.puts.size();
  if (puts) {
    txn.puts.push_back({.key = key, .value = std::move(decision.stored), .ttl = decision.ttl});
  } else {
    txn.deletes.push_back(key);
  }
  SortFixedSlotsLast(txn.puts, attempt.object_put);
  for (ExtraDelete& extra : decision.deletes) {
    if (extra.expected) AddCompare(txn, extra.key, *extra.expected);
    txn.deletes.push_back(std::move(extra.key));
  }
  attempt.first_fence = txn.compares.size();
  for (Compare& compare : decision.compares) {
    AddCompare(txn, std::move(compare.key), compare.revision);
  }
  return txn;
}

store::Txn MakeExpectedTxn(const std::string& key, Attempt& attempt, state::Follower& follower) {
  store::Txn txn = MakeTxn(key, attempt);
  for (const state::ExpectationPtr& expectation : attempt.expected) follower.Expect(expectation);
  return txn;
}

}  // namespace berth::commit
