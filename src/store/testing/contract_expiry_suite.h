// The contract of keys that expire.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "store/testing/contract_fixture.h"

namespace berth::store::contract {

class ContractExpiry : public Contract {
 protected:
  static constexpr std::chrono::seconds kTtl{2};

  Revision MustPutFor(std::string key, std::chrono::seconds ttl) {
    const TxnReply reply =
        Must({.puts = {{.key = std::move(key), .value = MakeValue("brief"), .ttl = ttl}}});
    return reply.puts.empty() ? Revision{} : reply.puts[0];
  }

  /// Lets time pass until the key is deleted, for at most a minute. Returns whether it is deleted.
  bool WaitUntilGone(const std::string& key) {
    const base::SteadyTime limit = store().Now() + std::chrono::minutes(1);
    while (Get(key)) {
      if (store().Now() > limit) return false;
      store().Pass(std::chrono::milliseconds(50));
    }
    return true;
  }

  std::optional<std::chrono::seconds> TtlOf(const std::string& key) {
    const auto page = ScanPageNow(engine(), {.prefix = key, .limit = 1, .with_ttl = true});
    EXPECT_TRUE(page.has_value() && page->entries.size() == 1) << key;
    if (!page || page->entries.size() != 1) return std::nullopt;
    return page->entries[0].ttl;
  }
};

TEST_P(ContractExpiry, AKeyGoesWhenItsTimeIsUp) {
  WatchReader reader(engine(), {.prefix = std::string(kAll), .after = Start()});
  const base::SteadyTime before = store().Now();
  // One transaction puts two keys that expire and one that does not.
  const TxnReply reply = Must({.puts = {{.key = Key("a"), .value = MakeValue("a"), .ttl = kTtl},
                                        {.key = Key("b"), .value = MakeValue("b"), .ttl = kTtl},
                                        {.key = Key("c"), .value = MakeValue("c")}}});
  ASSERT_EQ(reply.puts.size(), 3U);
  store().Pass(std::chrono::milliseconds(500));
  const std::optional<Item> a = Get(Key("a"));
  // If the machine was paused meanwhile, the key may have expired already.
  if (store().Now() < before + kTtl) {
    EXPECT_EQ(a, (Item{Key("a"), "a", reply.puts[0].value}));
  }

  ASSERT_TRUE(WaitUntilGone(Key("a")));
  EXPECT_GE(store().Now() - before, kTtl);
  ASSERT_TRUE(WaitUntilGone(Key("b")));

  // Each expired key has its own delete event, like any other delete.
  const std::vector<RecordedEvent> events = ReadUpToNow(reader);
  ASSERT_EQ(events.size(), 5U);
  for (size_t i = 3; i < 5; ++i) {
    EXPECT_EQ(events[i].type, Event::Type::kDelete);
    EXPECT_TRUE(events[i].item.key == Key("a") || events[i].item.key == Key("b"));
    model_.Apply(events[i]);
  }
  EXPECT_EQ(events, model_.EventsAfter(kAll, Start().value));
  ExpectAsModel();
  // The key can be created again, and then it does not expire.
  Must({.compares = {{.key = Key("a"), .revision = {}}},
        .puts = {{.key = Key("a"), .value = MakeValue("new")}}});
  ExpectAsModel();
}

TEST_P(ContractExpiry, TheLastPutDecides) {
  MustPutFor(Key("kept"), kTtl);
  MustPut(Key("kept"), "for good");
  MustPutFor(Key("longer"), kTtl);
  MustPutFor(Key("longer"), std::chrono::hours(1));
  MustPutFor(Key("remade"), kTtl);
  MustDelete(Key("remade"));
  MustPut(Key("remade"), "for good");
  MustPutFor(Key("deleted"), kTtl);
  MustDelete(Key("deleted"));
  MustPutFor(Key("shorter"), std::chrono::hours(1));
  MustPutFor(Key("shorter"), kTtl);
  MustPut(Key("first for good"), "x");
  MustPutFor(Key("first for good"), kTtl);

  ASSERT_TRUE(WaitUntilGone(Key("shorter")));
  ASSERT_TRUE(WaitUntilGone(Key("first for good")));
  // The other short deadlines have passed by now too. This waits a little longer for late deletes.
  store().Pass(std::chrono::milliseconds(500));
  std::vector<Item> left;
  for (const Item& item : model_.Items(kAll)) {
    if (item.key != Key("shorter") && item.key != Key("first for good")) left.push_back(item);
  }
  EXPECT_EQ(left.size(), 3U);
  EXPECT_EQ(Items(kAll), left);
  EXPECT_EQ(EventsOf(kAll, Start()).size(), model_.Events().size() + 2);
}

TEST_P(ContractExpiry, WhatIsLeftCanBeAskedFor) {
  const std::chrono::seconds hour(3600);
  const base::SteadyTime before = store().Now();
  MustPutFor(Key("hour"), hour);
  MustPut(Key("stays"), "x");
  store().Pass(std::chrono::milliseconds(1500));
  const std::optional<std::chrono::seconds> left = TtlOf(Key("hour"));
  const auto passed = store().Now() - before;
  ASSERT_TRUE(left.has_value());
  EXPECT_LE(*left, hour);
  EXPECT_GE(*left + passed, hour - std::chrono::seconds(2));
  EXPECT_EQ(TtlOf(Key("stays")), std::nullopt);
  const auto unasked = ScanPageNow(engine(), {.prefix = Key("hour")});
  ASSERT_TRUE(unasked.has_value());
  EXPECT_EQ(unasked->entries.at(0).ttl, std::nullopt);

  EXPECT_EQ(ReasonOfRefusal({.puts = {{.key = Key("never"),
                                       .value = MakeValue("x"),
                                       .ttl = std::chrono::seconds(-1)}}}),
            base::Reason::kBadRequest);
  EXPECT_EQ(ReasonOfRefusal({.puts = {{.key = Key("never"),
                                       .value = MakeValue("x"),
                                       .ttl = kMaxTtl + std::chrono::seconds(1)}}}),
            base::Reason::kBadRequest);
  MustPutFor(Key("longest"), kMaxTtl);
  EXPECT_TRUE(Get(Key("longest")).has_value());
}

}  // namespace berth::store::contract
