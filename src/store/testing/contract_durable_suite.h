// The contract of durable engines: all state is there when a store is opened again. Durable engines
// instantiate this suite beside store/testing/contract_suite.h with
//
//   BERTH_STORE_CONTRACT_DURABLE(Rocks, EngineUnderTest{...});
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "store/testing/contract_fixture.h"

namespace berth::store::contract {

class ContractDurable : public Contract {
 protected:
  void Reopen() {
    Close();
    Open();
  }
};

TEST_P(ContractDurable, StateAndHistorySurvive) {
  MustPut(Key("a"), "a1");
  Must({.puts = {{.key = Key("b"), .value = MakeValue("b1")},
                 {.key = Key("a"), .value = MakeValue("a2")}}});
  Must({.puts = {{.key = Key("c"), .value = MakeValue("c1")}}, .deletes = {Key("b")}});
  const Revision current = Now();
  Reopen();
  EXPECT_GE(Now().value, model_.Last());
  ExpectAsModel();
  for (const RecordedEvent& event : model_.Events()) {
    const Revision at{event.item.revision};
    EXPECT_EQ(Items(kAll, at), model_.ItemsAt(kAll, at.value));
    EXPECT_EQ(EventsOf(kAll, at), model_.EventsAfter(kAll, at.value));
  }

  // New revisions lie above every revision ever assigned.
  EXPECT_GT(MustPut(Key("a"), "a3"), current);
  MustDelete(Key("c"));
  ExpectAsModel();
  Reopen();
  ExpectAsModel();
}

TEST_P(ContractDurable, ComparesHoldAfterOpening) {
  const Revision a = MustPut(Key("a"), "a");
  MustPut(Key("gone"), "x");
  MustDelete(Key("gone"));
  Reopen();
  Must({.compares = {{.key = Key("a"), .revision = a}, {.key = Key("gone")}},
        .puts = {{.key = Key("a"), .value = MakeValue("a2")}}});
  const TxnReply late =
      CommitNow(engine(), {.compares = {{.key = Key("a"), .revision = a}}, .deletes = {Key("a")}});
  EXPECT_EQ(late.outcome, Outcome::kConflict);
  ExpectAsModel();
}

TEST_P(ContractDurable, CompactionIsRemembered) {
  const Revision before = MustPut(Key("a"), "1");
  MustPut(Key("a"), "2");
  const Revision at = MustPut(Key("b"), "1");
  MustPut(Key("a"), "3");
  ASSERT_TRUE(CompactNow(engine(), at).has_value());
  Reopen();
  EXPECT_EQ(Items(kAll), model_.Items(kAll));
  EXPECT_EQ(Items(kAll, at), model_.ItemsAt(kAll, at.value));
  EXPECT_EQ(ReasonOf(ScanAll(engine(), std::string(kAll), before)), base::Reason::kExpired);
  WatchReader expired(engine(), {.prefix = std::string(kAll), .after = before});
  EXPECT_EQ(ReasonOf(expired.UntilProgress(Now(), Soon())), base::Reason::kExpired);
  EXPECT_EQ(EventsOf(kAll, at), model_.EventsAfter(kAll, at.value));
}

TEST_P(ContractDurable, ExpiryGoesOn) {
  Must({.puts = {{.key = Key("brief"), .value = MakeValue("x"), .ttl = std::chrono::seconds(2)},
                 {.key = Key("hour"), .value = MakeValue("x"), .ttl = std::chrono::hours(1)},
                 {.key = Key("stays"), .value = MakeValue("x")}}});
  Reopen();
  const base::SteadyTime limit = store().Now() + std::chrono::minutes(1);
  while (Get(Key("brief")) && store().Now() < limit) {
    store().Pass(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(Get(Key("brief")), std::nullopt);
  EXPECT_TRUE(Get(Key("hour")).has_value());
  EXPECT_TRUE(Get(Key("stays")).has_value());
  const auto page = ScanPageNow(engine(), {.prefix = Key("hour"), .with_ttl = true});
  ASSERT_TRUE(page.has_value() && page->entries.size() == 1);
  ASSERT_TRUE(page->entries[0].ttl.has_value());
  EXPECT_LE(*page->entries[0].ttl, std::chrono::hours(1));
  EXPECT_GT(*page->entries[0].ttl, std::chrono::minutes(50));
}

TEST_P(ContractDurable, WhatWasRepliedWhileClosingIsTrue) {
  constexpr size_t kCalls = 300;
  std::vector<std::atomic<int>> outcomes(kCalls);
  for (auto& outcome : outcomes) outcome = -1;
  for (size_t i = 0; i < kCalls; ++i) {
    const std::string key = Key("", i);
    engine().Commit(
        {.puts = {{.key = key + "/a", .value = MakeValue("a")},
                  {.key = key + "/b", .value = MakeValue("b")}}},
        [&outcomes, i](const TxnReply& reply) { outcomes[i] = static_cast<int>(reply.outcome); });
  }
  Reopen();
  for (size_t i = 0; i < kCalls; ++i) {
    const size_t there = Items(Key(std::to_string(i) + "/")).size();
    switch (static_cast<Outcome>(outcomes[i].load())) {
      case Outcome::kCommitted:
        EXPECT_EQ(there, 2U) << i;
        break;
      case Outcome::kUnknown:
        EXPECT_NE(there, 1U) << i;
        break;
      case Outcome::kRefused:
        EXPECT_EQ(there, 0U) << i;
        break;
      default:
        ADD_FAILURE() << "outcome " << outcomes[i] << " of " << i;
    }
  }
}

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): gtest wants a macro at namespace level.
#define BERTH_STORE_CONTRACT_DURABLE(Name, ...)                                 \
  INSTANTIATE_TEST_SUITE_P(Name, ContractDurable, testing::Values(__VA_ARGS__), \
                           testing::PrintToStringParamName())

}  // namespace berth::store::contract
