#include "linear/linear_digest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace berth::linear {
namespace {

using store::Entry;
using store::Outcome;
using store::Revision;
using store::Txn;
using store::TxnReply;

class Digester {
 public:
  Digester(const History& history, bool revisions) : history_(history), revisions_(revisions) {}

  Digest Run() {
    for (size_t i = 0; i < history_.operations.size(); ++i) NoteRequest(i);
    for (size_t i = 0; i < history_.operations.size(); ++i) NoteReply(i);
    for (size_t put = 1; put <= out_.puts.size(); ++put) NotePut(put);
    if (revisions_) CheckRevisions();
    if (!out_.unusable.empty() || !out_.faults.empty()) return std::move(out_);
    for (size_t i = 0; i < history_.operations.size(); ++i) MakeStep(i);
    if (revisions_) RankSteps();
    for (Step& step : out_.steps) {
      for (const Condition& condition : step.conditions) step.touched |= Bit(condition.key);
      for (const Effect& effect : step.effects) step.touched |= Bit(effect.key);
    }
    return std::move(out_);
  }

 private:
  static uint64_t Bit(size_t key) { return uint64_t{1} << (key % 64); }

  void Fault(size_t operation, const std::string& what) {
    out_.faults.push_back(
        fmt::format("{}\n    {}", what, Describe(history_.operations[operation], operation)));
  }

  size_t KeyNumber(const std::string& key) {
    const auto [found, is_new] = key_numbers_.try_emplace(key, out_.keys.size());
    if (is_new) out_.keys.push_back(key);
    return found->second;
  }

  // --- First pass: the keys and puts. ---

  void NoteRequest(size_t operation) {
    const Request& request = history_.operations[operation].request;
    if (const auto* get = std::get_if<GetRequest>(&request)) KeyNumber(get->key);
    const auto* txn = std::get_if<Txn>(&request);
    if (txn == nullptr) return;
    for (const auto& compare : txn->compares) KeyNumber(compare.key);
    for (const auto& key : txn->deletes) KeyNumber(key);
    for (const auto& put : txn->puts) {
      const size_t key = KeyNumber(put.key);
      out_.puts.push_back({.key = key, .value = put.value, .operation = operation});
      const auto [found, is_new] = put_numbers_.try_emplace({key, put.value}, out_.puts.size());
      if (!is_new) {
        out_.unusable =
            fmt::format("{} = {} is put by two operations, #{} and #{}", ShortName(put.key),
                        put.value, out_.puts[found->second - 1].operation, operation);
      }
    }
  }

  size_t PutNumber(const std::string& key, const std::string& value) const {
    const auto key_number = key_numbers_.find(key);
    if (key_number == key_numbers_.end()) return 0;
    const auto put = put_numbers_.find({key_number->second, value});
    return put == put_numbers_.end() ? 0 : put->second;
  }

  // --- Second pass: what the replies say about puts. ---

  void Learn(size_t put, Revision revision) {
    auto& known = out_.puts[put - 1].revisions;
    if (std::ranges::find(known, revision) == known.end()) known.push_back(revision);
  }

  void Observe(size_t operation, const Entry& entry) {
    const size_t put = PutNumber(entry.key, entry.value);
    if (put == 0) {
      Fault(operation,
            fmt::format("{} = {} is read but was never put", ShortName(entry.key), entry.value));
      return;
    }
    PutFact& fact = out_.puts[put - 1];
    const Operation& writer = history_.operations[fact.operation];
    const auto* reply = std::get_if<TxnReply>(&writer.reply);
    if (reply != nullptr && reply->outcome != Outcome::kCommitted && !IsOpen(writer)) {
      Fault(operation,
            fmt::format("{} = {} is read although its transaction did not happen: {}",
                        ShortName(entry.key), entry.value, Describe(writer, fact.operation)));
    }
    Learn(put, entry.revision);
    fact.seen_by = std::min(fact.seen_by, history_.operations[operation].returned);
  }

  void NoteReply(size_t operation) {
    const Operation& op = history_.operations[operation];
    if (const auto* entry = std::get_if<std::optional<Entry>>(&op.reply)) {
      if (*entry) Observe(operation, **entry);
    } else if (const auto* page = std::get_if<store::ScanPage>(&op.reply)) {
      CheckPage(operation, *page);
      for (const Entry& found : page->entries) Observe(operation, found);
    } else if (const auto* reply = std::get_if<TxnReply>(&op.reply)) {
      const auto& txn = std::get<Txn>(op.request);
      if (reply->outcome == Outcome::kCommitted) NoteCommit(operation, txn, *reply);
      if (reply->outcome == Outcome::kConflict) NoteConflict(operation, txn, *reply);
    }
  }

  void CheckPage(size_t operation, const store::ScanPage& page) {
    const auto& prefix = std::get<SnapshotRequest>(history_.operations[operation].request).prefix;
    const auto& entries = page.entries;
    const bool ordered = std::ranges::adjacent_find(entries, std::ranges::greater_equal(),
                                                    &Entry::key) == entries.end();
    if (!ordered) Fault(operation, "the keys of a scan are not in order, or one comes twice");
    for (const Entry& entry : entries) {
      if (!entry.key.starts_with(prefix)) {
        Fault(operation, fmt::format("the scan's prefix is not {}'s", ShortName(entry.key)));
      }
    }
  }

  void NoteCommit(size_t operation, const Txn& txn, const TxnReply& reply) {
    if (reply.puts.size() != txn.puts.size() || reply.deletes.size() != txn.deletes.size()) {
      Fault(operation, "the reply does not have one revision for each put and delete");
      return;
    }
    for (size_t i = 0; i < txn.puts.size(); ++i) {
      Learn(PutNumber(txn.puts[i].key, txn.puts[i].value), reply.puts[i]);
    }
    if (!revisions_) return;
    Revision last;
    for (const Revision revision : reply.puts) {
      if (revision <= last) Fault(operation, "revisions do not rise inside the transaction");
      last = revision;
    }
    for (const Revision revision : reply.deletes) {
      if (!revision) continue;
      if (revision <= last) Fault(operation, "revisions do not rise inside the transaction");
      last = revision;
    }
  }

  void NoteConflict(size_t operation, const Txn& txn, const TxnReply& reply) {
    if (reply.conflicts.empty()) Fault(operation, "a conflict that names no compare");
    std::vector<bool> named(txn.compares.size());
    for (const auto& conflict : reply.conflicts) {
      if (conflict.compare >= txn.compares.size() || named[conflict.compare]) {
        Fault(operation, "a conflict names a compare twice, or one that does not exist");
        continue;
      }
      named[conflict.compare] = true;
      const auto& compare = txn.compares[conflict.compare];
      const Revision found = conflict.current ? conflict.current->revision : Revision{};
      if (found == compare.revision) {
        Fault(operation,
              fmt::format("a conflict on {}, although the compare held", ShortName(compare.key)));
      }
      if (conflict.current && conflict.current->key != compare.key) {
        Fault(operation, fmt::format("a conflict on {} comes with another key's entry",
                                     ShortName(compare.key)));
      }
      if (conflict.current) Observe(operation, *conflict.current);
    }
  }

  // --- Third pass: the revisions of puts and deletes. ---

  void NotePut(size_t put) {
    const PutFact& fact = out_.puts[put - 1];
    for (const Revision revision : fact.revisions) {
      by_revision_[{fact.key, revision}].push_back(put);
    }
  }

  void CheckRevisions() {
    std::map<Revision, size_t> given;  // Maps to the operation.
    const auto give = [&](Revision revision, size_t operation, const std::string& what) {
      const auto [found, is_new] = given.try_emplace(revision, operation);
      if (is_new) return;
      Fault(operation, fmt::format("revision {} of {} was given before: {}", revision.value, what,
                                   Describe(history_.operations[found->second], found->second)));
    };
    for (const PutFact& fact : out_.puts) {
      for (const Revision revision : fact.revisions) {
        give(revision, fact.operation,
             fmt::format("{} = {}", ShortName(out_.keys[fact.key]), fact.value));
      }
      if (fact.revisions.size() > 1) {
        Fault(fact.operation, fmt::format("{} = {} was put once but has two revisions, {} and {}",
                                          ShortName(out_.keys[fact.key]), fact.value,
                                          fact.revisions[0].value, fact.revisions[1].value));
      }
    }
    for (size_t i = 0; i < history_.operations.size(); ++i) {
      const auto* reply = std::get_if<TxnReply>(&history_.operations[i].reply);
      if (reply == nullptr) continue;
      for (const Revision revision : reply->deletes) {
        if (revision) give(revision, i, "a delete");
      }
    }
  }

  // --- Fourth pass: the steps. ---

  void MakeStep(size_t operation) {
    const Operation& op = history_.operations[operation];
    Step step{.operation = operation, .called = op.called, .deadline = op.returned};
    bool says_something = true;
    if (IsOpen(op)) {
      says_something = MakeOpen(std::get<Txn>(op.request), step);
    } else if (const auto* entry = std::get_if<std::optional<Entry>>(&op.reply)) {
      Demand(step, std::get<GetRequest>(op.request).key, *entry);
    } else if (const auto* page = std::get_if<store::ScanPage>(&op.reply)) {
      MakeScan(std::get<SnapshotRequest>(op.request).prefix, *page, step);
    } else if (const auto* reply = std::get_if<TxnReply>(&op.reply)) {
      const auto& txn = std::get<Txn>(op.request);
      if (reply->outcome == Outcome::kCommitted) MakeCommitted(txn, *reply, step);
      if (reply->outcome == Outcome::kConflict) MakeConflict(txn, *reply, step);
      says_something = reply->outcome != Outcome::kRefused;
    } else {
      says_something = false;
    }
    if (says_something) out_.steps.push_back(std::move(step));
  }

  void Demand(Step& step, const std::string& key, const std::optional<Entry>& entry) {
    const size_t put = entry ? PutNumber(entry->key, entry->value) : 0;
    step.conditions.push_back({.key = KeyNumber(key), .puts = {put}});
  }

  void DemandCompare(Step& step, const store::Compare& compare) {
    Condition condition{.key = KeyNumber(compare.key)};
    if (!compare.revision) condition.puts = {0};
    const auto known = by_revision_.find({condition.key, compare.revision});
    if (known != by_revision_.end()) condition.puts = known->second;
    step.conditions.push_back(std::move(condition));
  }

  void MakeScan(const std::string& prefix, const store::ScanPage& page, Step& step) {
    for (size_t key = 0; key < out_.keys.size(); ++key) {
      if (!out_.keys[key].starts_with(prefix)) continue;
      const auto found = std::ranges::find(page.entries, out_.keys[key], &Entry::key);
      Demand(step, out_.keys[key],
             found == page.entries.end() ? std::nullopt : std::optional<Entry>(*found));
    }
  }

  void AddPuts(const Txn& txn, Step& step) {
    for (const auto& put : txn.puts) {
      step.effects.push_back({.key = KeyNumber(put.key), .put = PutNumber(put.key, put.value)});
    }
  }

  void MakeCommitted(const Txn& txn, const TxnReply& reply, Step& step) {
    for (const auto& compare : txn.compares) DemandCompare(step, compare);
    AddPuts(txn, step);
    for (size_t i = 0; i < txn.deletes.size(); ++i) {
      const size_t key = KeyNumber(txn.deletes[i]);
      const bool was_there = static_cast<bool>(reply.deletes[i]);
      step.conditions.push_back({.key = key, .puts = {0}, .negated = was_there});
      if (was_there) step.effects.push_back({.key = key, .put = 0});
    }
  }

  void MakeConflict(const Txn& txn, const TxnReply& reply, Step& step) {
    for (size_t i = 0; i < txn.compares.size(); ++i) {
      const auto failed = std::ranges::find(reply.conflicts, i, &store::Conflict::compare);
      if (failed == reply.conflicts.end()) {
        DemandCompare(step, txn.compares[i]);
      } else {
        Demand(step, txn.compares[i].key, failed->current);
      }
    }
  }

  /// Makes the step of an open transaction. Returns false if it makes no difference whether it
  /// happened.
  bool MakeOpen(const Txn& txn, Step& step) {
    for (const auto& compare : txn.compares) DemandCompare(step, compare);
    AddPuts(txn, step);
    step.deadline = kNever;
    for (const Effect& put : step.effects) {
      step.deadline = std::min(step.deadline, out_.puts[put.put - 1].seen_by);
    }
    step.optional = step.deadline == kNever;
    for (const auto& key : txn.deletes) {
      step.effects.push_back({.key = KeyNumber(key), .put = 0});
    }
    return !step.effects.empty();
  }

  // --- Fifth pass: the order of the writes. ---

  /// Returns the lowest known revision of what a step wrote, or 0 if none is known.
  Revision FirstRevision(const Step& step) const {
    std::vector<Revision> known;
    for (const Effect& effect : step.effects) {
      if (effect.put == 0) continue;
      const auto& revisions = out_.puts[effect.put - 1].revisions;
      known.insert(known.end(), revisions.begin(), revisions.end());
    }
    const auto* reply = std::get_if<TxnReply>(&history_.operations[step.operation].reply);
    if (reply != nullptr) {
      std::ranges::copy_if(reply->deletes, std::back_inserter(known),
                           [](Revision revision) { return static_cast<bool>(revision); });
    }
    const auto lowest = std::ranges::min_element(known);
    return lowest == known.end() ? Revision{} : *lowest;
  }

  void RankSteps() {
    std::map<Revision, Step*> order;
    for (Step& step : out_.steps) {
      const Revision first = FirstRevision(step);
      if (first) order.emplace(first, &step);
    }
    int64_t rank = 0;
    for (const auto& [revision, step] : order) step->rank = rank++;
    for (Step& step : out_.steps) {
      const Operation& op = history_.operations[step.operation];
      const auto* page = std::get_if<store::ScanPage>(&op.reply);
      if (page == nullptr) continue;
      step.at_rank = std::distance(order.begin(), order.upper_bound(page->at));
    }
  }

  const History& history_;
  const bool revisions_;
  Digest out_;
  std::map<std::string, size_t> key_numbers_;
  std::map<std::pair<size_t, std::string>, size_t> put_numbers_;
  std::map<std::pair<size_t, Revision>, std::vector<size_t>> by_revision_;
};

}  // namespace

Digest MakeDigest(const History& history, bool revisions) {
  return Digester(history, revisions).Run();
}

}  // namespace berth::linear
