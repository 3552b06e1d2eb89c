// The contract of transactions that wait together. An engine runs them as a group that shares a
// disk sync or a quorum write. Their replies must be as if they had run one after another.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::contract {

struct Member {
  Txn txn = {};
  TxnReply reply = {};
  bool breaks_a_limit = false;
};

class ContractGroup : public Contract {
 protected:
  /// Submits all members without waiting in between, then waits for all replies.
  void Run(std::vector<Member>& members) {
    std::vector<Awaited<TxnReply>> replies(members.size());
    for (size_t i = 0; i < members.size(); ++i) {
      engine().Commit(members[i].txn, replies[i].Setter());
    }
    for (size_t i = 0; i < members.size(); ++i) members[i].reply = replies[i].Wait();
  }

  /// Replays the committed members on the model in the order of their revisions, and checks that
  /// every reply is right in one of the states in between.
  void ExpectSerial(const std::vector<Member>& members) {
    std::vector<const Member*> writers;
    for (const Member& member : members) {
      if (First(member.reply)) writers.push_back(&member);
    }
    std::sort(writers.begin(), writers.end(),
              [](const Member* a, const Member* b) { return First(a->reply) < First(b->reply); });
    std::vector<Model::State> states = {model_.Now()};
    for (const Member* member : writers) {
      EXPECT_TRUE(Explains(states.back(), *member)) << "revision " << First(member->reply).value;
      model_.Apply(member->txn, member->reply);
      states.push_back(model_.Now());
    }
    for (size_t i = 0; i < members.size(); ++i) {
      const Member& member = members[i];
      if (member.breaks_a_limit) {
        EXPECT_EQ(member.reply.outcome, Outcome::kRefused) << "member " << i;
        continue;
      }
      const auto explains = [&](const Model::State& state) { return Explains(state, member); };
      EXPECT_TRUE(std::any_of(states.begin(), states.end(), explains))
          << "member " << i << ": no state explains outcome "
          << static_cast<int>(member.reply.outcome) << " " << member.reply.error.message;
    }
    ExpectAsModel();
  }

  static size_t Count(const std::vector<Member>& members, Outcome outcome) {
    return static_cast<size_t>(
        std::count_if(members.begin(), members.end(),
                      [&](const Member& member) { return member.reply.outcome == outcome; }));
  }

 private:
  /// Returns the first revision of the transaction. Returns 0 if it wrote nothing.
  static Revision First(const TxnReply& reply) {
    if (!reply.puts.empty()) return reply.puts.front();
    for (const Revision& revision : reply.deletes) {
      if (revision) return revision;
    }
    return {};
  }

  /// Returns whether the reply is right for a transaction that runs in this state.
  static bool Explains(const Model::State& state, const Member& member) {
    const TxnReply& reply = member.reply;
    std::vector<Conflict> conflicts = reply.conflicts;
    for (size_t i = 0; i < member.txn.compares.size(); ++i) {
      const Compare& compare = member.txn.compares[i];
      const auto found = state.find(compare.key);
      const int64_t revision = found == state.end() ? 0 : found->second.revision;
      if (revision == compare.revision.value) continue;
      if (conflicts.empty() || conflicts.front().compare != i) return false;
      const std::optional<Entry> current = std::move(conflicts.front().current);
      conflicts.erase(conflicts.begin());
      if (current.has_value() != (found != state.end())) return false;
      if (current && ToItem(*current) != found->second) return false;
    }
    if (!conflicts.empty()) return false;  // The reply names a compare that holds.
    if (!reply.conflicts.empty()) return reply.outcome == Outcome::kConflict;
    if (reply.outcome != Outcome::kCommitted) return false;
    for (size_t i = 0; i < member.txn.deletes.size(); ++i) {
      if (state.contains(member.txn.deletes[i]) != (reply.deletes.at(i).value != 0)) return false;
    }
    return true;
  }
};

TEST_P(ContractGroup, IndependentOnesAllHappen) {
  std::vector<Member> members(300);
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string key = Key("", i);
    members[i].txn = {.compares = {{.key = key}, {.key = key + "/b"}},
                      .puts = {{.key = key, .value = MakeValue("a")},
                               {.key = key + "/b", .value = MakeValue("b")}}};
  }
  Run(members);
  EXPECT_EQ(Count(members, Outcome::kCommitted), 300U);
  ExpectSerial(members);
}

TEST_P(ContractGroup, OneKeyManyTimes) {
  std::vector<Member> members(100);
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].txn = {.puts = {{.key = Key("a"), .value = MakeValue(std::to_string(i))}}};
    if (i % 7 == 3) members[i].txn = {.deletes = {Key("a")}};
  }
  Run(members);
  EXPECT_EQ(Count(members, Outcome::kCommitted), 100U);
  ExpectSerial(members);
}

TEST_P(ContractGroup, OfManyThatCreateOneWins) {
  std::vector<Member> members(50);
  for (size_t i = 0; i < members.size(); ++i) {
    members[i].txn = {.compares = {{.key = Key("a")}},
                      .puts = {{.key = Key("a"), .value = MakeValue(std::to_string(i))},
                               {.key = Key("by", i), .value = MakeValue("")}}};
  }
  Run(members);
  EXPECT_EQ(Count(members, Outcome::kCommitted), 1U);
  EXPECT_EQ(Count(members, Outcome::kConflict), 49U);
  ExpectSerial(members);
}

TEST_P(ContractGroup, OneComparesWhatAnotherWrites) {
  // In each pair, either transaction puts its key if the other's key does not exist. Only one of
  // them may commit.
  std::vector<Member> members(60);
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string pair = std::to_string(i / 2);
    const std::string mine = Key(pair + (i % 2 == 0 ? "left" : "right"));
    const std::string other = Key(pair + (i % 2 == 0 ? "right" : "left"));
    members[i].txn = {.compares = {{.key = other}},
                      .puts = {{.key = mine, .value = MakeValue("mine")}}};
  }
  Run(members);
  EXPECT_EQ(Count(members, Outcome::kCommitted), 30U);
  EXPECT_EQ(Count(members, Outcome::kConflict), 30U);
  ExpectSerial(members);
}

TEST_P(ContractGroup, FailuresAreFeltByNobodyElse) {
  const Revision exists = MustPut(Key("exists"), "x");
  std::vector<Member> members(120);
  for (size_t i = 0; i < members.size(); ++i) {
    const std::string key = Key("", i);
    Member& member = members[i];
    member.txn = {.compares = {{.key = Key("exists"), .revision = exists}},
                  .puts = {{.key = key, .value = MakeValue("x")}}};
    switch (i % 6) {
      case 1:  // A compare fails.
        member.txn.compares.push_back({.key = key, .revision = exists});
        break;
      case 2:  // Too large.
        member.txn.puts[0].value.resize(kMaxTxnBytes);
        member.breaks_a_limit = true;
        break;
      case 3:  // Not a key.
        member.txn.deletes.emplace_back();
        member.breaks_a_limit = true;
        break;
      case 4:  // Written twice.
        member.txn.deletes.push_back(key);
        member.breaks_a_limit = true;
        break;
      default:
        break;
    }
  }
  Run(members);
  EXPECT_EQ(Count(members, Outcome::kCommitted), 40U);
  EXPECT_EQ(Count(members, Outcome::kConflict), 20U);
  EXPECT_EQ(Count(members, Outcome::kRefused), 60U);
  ExpectSerial(members);
}

TEST_P(ContractGroup, LargeOnesBesideSmallOnes) {
  std::vector<Member> members;
  for (int i = 0; i < 6; ++i) {
    Member large;
    for (int n = 0; n < 100; ++n) {
      const std::string key = Key("large", i).append("/").append(std::to_string(n));
      large.txn.compares.push_back({.key = key});
      large.txn.puts.push_back({.key = key, .value = MakeValue("x")});
    }
    members.push_back(std::move(large));
    for (int n = 0; n < 30; ++n) {
      const std::string key = Key("small", i).append("/").append(std::to_string(n));
      members.push_back(
          {.txn = {.puts = {{.key = key, .value = MakeValue("y")}}, .deletes = {Key("none", i)}}});
    }
  }
  Run(members);
  EXPECT_EQ(Count(members, Outcome::kCommitted), members.size());
  ExpectSerial(members);
}

TEST_P(ContractGroup, AnythingAtOnceIsSerial) {
  const uint64_t seed = base::TestSeed(3);
  SCOPED_TRACE(testing::Message() << "BERTH_SEED=" << seed);
  base::SeededRandom random(seed);
  const auto key = [&] { return Key("k", base::Uniform(random, 60)); };
  for (int64_t round = 0; round < std::max<int64_t>(2, base::LongCount(20)); ++round) {
    std::vector<Member> members(300);
    for (Member& member : members) {
      std::set<std::string> compared;
      std::set<std::string> written;
      for (uint64_t n = base::Uniform(random, 4); n > 0; --n) {
        const std::string name = key();
        // Usually compares the present revision, rarely a wrong one.
        const auto now = model_.Now().find(name);
        const bool right = base::Uniform(random, 20) != 0;
        const Revision there{now == model_.Now().end() ? 0 : now->second.revision};
        if (compared.insert(name).second) {
          member.txn.compares.push_back({.key = name, .revision = right ? there : Revision{}});
        }
      }
      for (uint64_t n = base::Uniform(random, 4); n > 0; --n) {
        const std::string name = key();
        if (!written.insert(name).second) continue;
        if (base::Uniform(random, 3) == 0) {
          member.txn.deletes.push_back(name);
        } else {
          member.txn.puts.push_back(
              {.key = name, .value = MakeValue(std::to_string(random.Next()))});
        }
      }
      if (base::Uniform(random, 40) == 0) {
        member.txn.deletes.emplace_back("\0", 1);
        member.breaks_a_limit = true;
      }
    }
    Run(members);
    ExpectSerial(members);
    if (HasFailure()) return;
  }
}

}  // namespace berth::store::contract
