// The checker compared with a plain search on small random histories: those of a sound store, and
// those with one wrong reply.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "linear/checker.h"
#include "linear/script.h"

namespace berth::linear {
namespace {

using Values = std::map<std::string, std::string>;

/// Entries from replies: the value of a key at a revision.
using Told = std::map<std::pair<std::string, int64_t>, std::string>;

/// Returns every entry in a reply.
std::vector<store::Entry> ToldBy(const Request& request, const Reply& reply) {
  std::vector<store::Entry> told;
  if (const auto* entry = std::get_if<std::optional<store::Entry>>(&reply)) {
    if (*entry) told.push_back(**entry);
  } else if (const auto* page = std::get_if<store::ScanPage>(&reply)) {
    told = page->entries;
  } else if (const auto* txn_reply = std::get_if<store::TxnReply>(&reply)) {
    for (const auto& conflict : txn_reply->conflicts) {
      if (conflict.current) told.push_back(*conflict.current);
    }
    for (size_t i = 0; i < txn_reply->puts.size(); ++i) {
      const auto& put = std::get<store::Txn>(request).puts[i];
      told.push_back({.key = put.key, .value = put.value, .revision = txn_reply->puts[i]});
    }
  }
  return told;
}

Told ToldBy(const History& history) {
  Told told;
  for (const Operation& op : history.operations) {
    for (const auto& entry : ToldBy(op.request, op.reply)) {
      told[{entry.key, entry.revision.value}] = entry.value;
    }
  }
  return told;
}

/// Tries all orders that agree with real time, one after the other. It is slow and obviously right.
class BruteForce {
 public:
  BruteForce(const History& history, bool revisions)
      : ops_(history.operations), revisions_(revisions), told_(ToldBy(history)) {}

  bool Linearizable() { return Extend({}, {}); }

 private:
  using Done = std::set<size_t>;

  bool Extend(const Done& done, const Values& state) {
    uint64_t horizon = kNever;
    bool all = true;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (done.contains(i) || IsOpen(ops_[i])) continue;
      all = false;
      horizon = std::min(horizon, ops_[i].returned);
    }
    if (all) return true;
    for (size_t i = 0; i < ops_.size(); ++i) {
      if (done.contains(i) || ops_[i].called > horizon) continue;
      Values next = state;
      if (!Apply(ops_[i], next) || (revisions_ && !InOrder(i, done))) continue;
      Done more = done;
      more.insert(i);
      if (Extend(more, next)) return true;
    }
    return false;
  }

  static std::string At(const Values& state, const std::string& key) {
    const auto found = state.find(key);
    return found == state.end() ? "" : found->second;
  }

  /// Returns whether the operation could have had its reply in this state. If so, also applies it.
  bool Apply(const Operation& op, Values& state) const {
    if (const auto* entry = std::get_if<std::optional<store::Entry>>(&op.reply)) {
      return At(state, std::get<GetRequest>(op.request).key) == (*entry ? (*entry)->value : "");
    }
    if (const auto* page = std::get_if<store::ScanPage>(&op.reply)) {
      Values seen;
      for (const auto& entry : page->entries) seen[entry.key] = entry.value;
      return seen == state;
    }
    const auto& txn = std::get<store::Txn>(op.request);
    const auto& reply = std::get<store::TxnReply>(op.reply);
    std::map<size_t, std::string> failed;
    for (size_t i = 0; i < txn.compares.size(); ++i) {
      const auto& [key, revision] = txn.compares[i];
      const auto told = told_.find({key, revision.value});
      const std::string wanted = told == told_.end() ? "" : told->second;
      if (At(state, key) != wanted) failed[i] = At(state, key);
    }
    if (reply.outcome == store::Outcome::kConflict) {
      std::map<size_t, std::string> reported;
      for (const auto& [compare, current] : reply.conflicts) {
        reported[compare] = current ? current->value : "";
      }
      return !failed.empty() && failed == reported;
    }
    if (!failed.empty()) return false;
    for (const auto& put : txn.puts) state[put.key] = put.value;
    for (size_t i = 0; i < txn.deletes.size(); ++i) {
      const bool was_there = state.erase(txn.deletes[i]) != 0;
      if (!reply.deletes.empty() && was_there != static_cast<bool>(reply.deletes[i])) return false;
    }
    return true;
  }

  /// Returns the lowest known revision of what was written, or 0 if none is known.
  int64_t First(const Operation& op) const {
    std::set<int64_t> known;
    const auto* txn = std::get_if<store::Txn>(&op.request);
    if (txn == nullptr) return 0;
    for (const auto& [where, value] : told_) {
      for (const auto& put : txn->puts) {
        if (put.key == where.first && put.value == value) known.insert(where.second);
      }
    }
    for (const auto revision : std::get<store::TxnReply>(op.reply).deletes) {
      if (revision) known.insert(revision.value);
    }
    return known.empty() ? 0 : *known.begin();
  }

  /// Returns whether the operation may come now, as far as revisions are known: exactly the writes
  /// with lower revisions are done.
  bool InOrder(size_t next, const Done& done) const {
    int64_t upto = First(ops_[next]);
    if (const auto* page = std::get_if<store::ScanPage>(&ops_[next].reply)) upto = page->at.value;
    if (upto == 0) return true;
    for (size_t i = 0; i < ops_.size(); ++i) {
      const int64_t first = First(ops_[i]);
      if (i != next && first != 0 && done.contains(i) != (first <= upto)) return false;
    }
    return true;
  }

  const std::vector<Operation>& ops_;
  const bool revisions_;
  const Told told_;
};

/// Makes up histories. It runs operations on a store of its own, each at its call, at its reply or,
/// if it stays open, later or never. Every now and then it changes a reply.
class Inventor {
 public:
  explicit Inventor(base::Random& random) : random_(random) {}

  History Invent() {
    const size_t length = 3 + Below(6);
    for (size_t i = 0; i < length; ++i) {
      Begin(i);
      while (!running_.empty() && Below(2) == 0) End(Below(running_.size()));
    }
    while (!running_.empty()) End(Below(running_.size()));
    return script_.Take();
  }

 private:
  struct Running {
    size_t operation = 0;
    Request request = {};
    bool open = false;
    std::optional<Reply> reply = {};
  };

  size_t Below(size_t bound) { return base::Uniform(random_, bound); }
  std::string SomeKey() { return std::string(1, static_cast<char>('a' + Below(3))); }
  std::string Other(const std::string& key) {
    const std::string other = SomeKey();
    return other == key ? Other(key) : other;
  }

  void Begin(size_t client) {
    Running op{.request = Make(), .open = false};
    op.operation = script_.Call(client, op.request);
    op.open = std::holds_alternative<store::Txn>(op.request) && Below(3) == 0;
    if (Below(2) == 0) op.reply = Run(op.request);
    running_.push_back(std::move(op));
  }

  void End(size_t at) {
    Running op = std::move(running_[at]);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(at));
    if (op.open) {
      script_.Return(op.operation, Unknown());
      if (!op.reply && Below(2) == 0) late_.push_back(op.request);
      return;
    }
    if (!op.reply) op.reply = Run(op.request);
    if (Below(4) == 0) Spoil(op.request, *op.reply);
    std::ranges::move(ToldBy(op.request, *op.reply), std::back_inserter(remembered_));
    script_.Return(op.operation, *op.reply);
    if (!late_.empty() && Below(3) == 0) {
      Run(late_.back());
      late_.pop_back();
    }
  }

  Request Make() {
    const std::string key = SomeKey();
    const size_t dice = Below(10);
    if (dice < 2) return Get(key);
    if (dice < 3) return Scan("");
    store::Txn txn;
    const std::string other = Other(key);
    for (const auto& compared : {key, other}) {
      if (Below(3) == 0) txn.compares.push_back({compared, Known(compared)});
    }
    if (dice < 8) txn.puts.push_back({.key = key, .value = fmt::format("v{}", values_++)});
    if (dice == 8) txn.deletes.push_back(key);
    if (Below(3) != 0) return txn;
    if (Below(2) == 0) {
      txn.puts.push_back({.key = other, .value = fmt::format("v{}", values_++)});
    } else {
      txn.deletes.push_back(other);
    }
    return txn;
  }

  /// Returns a revision from a reply, or 0.
  store::Revision Known(const std::string& key) {
    std::vector<int64_t> choice = {0};
    for (const auto& entry : remembered_) {
      if (entry.key == key) choice.push_back(entry.revision.value);
    }
    return {Below(2) == 0 ? choice.back() : choice[Below(choice.size())]};
  }

  Reply Run(const Request& request) {
    if (const auto* get = std::get_if<GetRequest>(&request)) return Now(get->key);
    const auto* txn = std::get_if<store::Txn>(&request);
    if (txn == nullptr) {
      store::ScanPage page{.at = {revision_}};
      for (const auto& [key, entry] : state_) page.entries.push_back(entry);
      return page;
    }
    store::TxnReply reply{.outcome = store::Outcome::kCommitted};
    for (size_t i = 0; i < txn->compares.size(); ++i) {
      const auto current = Now(txn->compares[i].key);
      if ((current ? current->revision : store::Revision{}) == txn->compares[i].revision) continue;
      reply.outcome = store::Outcome::kConflict;
      reply.conflicts.push_back({.compare = i, .current = current});
    }
    if (reply.outcome == store::Outcome::kConflict) return reply;
    for (const auto& put : txn->puts) {
      state_[put.key] = *Some(put.key, put.value, ++revision_);
      reply.puts.push_back({revision_});
    }
    for (const auto& key : txn->deletes) {
      const bool was_there = state_.erase(key) != 0;
      reply.deletes.push_back({was_there ? ++revision_ : 0});
    }
    return reply;
  }

  std::optional<store::Entry> Now(const std::string& key) const {
    const auto found = state_.find(key);
    return found == state_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Changes a reply to what was true at another time, or never.
  void Spoil(const Request& request, Reply& reply) {
    const auto other = [&](const std::string& key) -> std::optional<store::Entry> {
      std::vector<std::optional<store::Entry>> choice = {std::nullopt};
      std::ranges::copy_if(remembered_, std::back_inserter(choice),
                           [&](const store::Entry& entry) { return entry.key == key; });
      return choice[Below(choice.size())];
    };
    if (auto* entry = std::get_if<std::optional<store::Entry>>(&reply)) {
      *entry = other(std::get<GetRequest>(request).key);
    } else if (auto* page = std::get_if<store::ScanPage>(&reply)) {
      if (!page->entries.empty()) page->entries.erase(page->entries.begin());
    } else {
      auto& txn_reply = std::get<store::TxnReply>(reply);
      for (auto& revision : txn_reply.deletes) revision.value = revision ? 0 : ++revision_;
      for (auto& conflict : txn_reply.conflicts) {
        const auto& compare = std::get<store::Txn>(request).compares[conflict.compare];
        auto instead = other(compare.key);
        const store::Revision found = instead ? instead->revision : store::Revision{};
        if (found != compare.revision) conflict.current = std::move(instead);
      }
    }
  }

  base::Random& random_;
  Script script_;
  std::map<std::string, store::Entry> state_;
  int64_t revision_ = 0;
  int values_ = 0;
  std::vector<Running> running_;
  std::vector<Request> late_;
  std::vector<store::Entry> remembered_;
};

std::string Shown(const History& history) {
  std::string out;
  for (size_t i = 0; i < history.operations.size(); ++i) {
    out += Describe(history.operations[i], i) + "\n";
  }
  return out;
}

TEST(CheckerModelTest, AgreesWithTryingEverything) {
  const uint64_t seed = base::TestSeed(7);
  base::SeededRandom random(seed);
  const auto count = static_cast<size_t>(base::LongCount(100'000));
  for (const bool revisions : {true, false}) {
    size_t good = 0;
    for (size_t i = 0; i < count; ++i) {
      const History history = Inventor(random).Invent();
      const CheckResult result = Check(history, {.revisions = revisions});
      const bool right = BruteForce(history, revisions).Linearizable();
      good += right ? 1 : 0;
      ASSERT_EQ(result.verdict, right ? Verdict::kLinearizable : Verdict::kViolation)
          << "BERTH_SEED=" << seed << ", history " << i << ", revisions " << revisions << "\n"
          << Shown(history) << result.explanation;
    }
    // There were enough of both kinds.
    EXPECT_GT(good, count / 10);
    EXPECT_LT(good, count - count / 10);
    fmt::print("{} histories, {} of them linearizable\n", count, good);
  }
}

}  // namespace
}  // namespace berth::linear
