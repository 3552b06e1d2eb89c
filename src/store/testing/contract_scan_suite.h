// The contract of scans: prefixes, pages, past revisions, and compaction.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::contract {

class ContractScan : public Contract {
 protected:
  /// Puts the keys p00, p01, ... with their number as payload, up to 50 in a transaction.
  void PutMany(int count) {
    Txn txn;
    for (int i = 0; i < count; ++i) {
      txn.puts.push_back({.key = Numbered(i), .value = MakeValue(std::to_string(i))});
      if (txn.puts.size() < 50 && i + 1 < count) continue;
      Must(std::exchange(txn, {}));
    }
  }

  static std::string Numbered(int i) {
    return Key(std::string("p") + static_cast<char>('0' + i / 10 % 10) +
               static_cast<char>('0' + i % 10));
  }

  /// Returns the entries of all pages of the suite's keys, `limit` entries to a page. Checks each
  /// page on the way.
  std::vector<Item> Pages(
      size_t limit, Revision at, const std::function<void()>& between_pages = [] {}) {
    std::vector<Item> items;
    ScanRequest request{.prefix = std::string(kAll), .at = at, .limit = limit};
    for (;;) {
      const auto page = ScanPageNow(engine(), request);
      EXPECT_TRUE(page.has_value()) << page.error().message;
      if (!page) return items;
      EXPECT_LE(page->entries.size(), limit);
      EXPECT_FALSE(page->more && page->entries.empty());
      EXPECT_TRUE(!request.at || page->at == request.at);
      for (const Entry& entry : page->entries) items.push_back(ToItem(entry));
      if (!page->more || page->entries.empty()) return items;
      request.at = page->at;
      request.after = page->entries.back().key;
      between_pages();
    }
  }

  /// Returns a transaction of a few random writes. There are few keys, so that transactions write
  /// the same ones.
  Txn RandomWrites(base::Random& random) {
    Txn txn;
    for (int i = 0; i < 12; ++i) {
      const std::string key = Key("k", i);
      switch (base::Uniform(random, 6)) {
        case 0:
        case 1:
          txn.puts.push_back({.key = key, .value = MakeValue(std::to_string(random.Next()))});
          break;
        case 2:
          txn.deletes.push_back(key);
          break;
        default:
          break;
      }
    }
    return txn;
  }
};

TEST_P(ContractScan, APrefixIsBytes) {
  for (const char* name : {"a", "a/", "a/b", "a/b/c", "a0", "ab", "a\xff", "a\xff\xff", "a\xff\x01",
                           "b", "A", "\xff", "\xff\xff", "a/\xff"}) {
    MustPut(Key(name), name);
  }
  for (const char* name : {"", "a", "a/", "a/b", "a/b/", "a/b/c", "a/b/cd", "a\xff", "a\xff\xff",
                           "\xff", "\xff\xff", "\xff\xff\xff", "b", "B", "c", "a/\xff"}) {
    EXPECT_EQ(Items(Key(name)), model_.Items(Key(name))) << Key(name);
    EXPECT_EQ(EventsOf(Key(name), Start()), model_.EventsAfter(Key(name), Start().value))
        << Key(name);
  }
  EXPECT_EQ(Items("/registry/suit").size(), 14U);
  EXPECT_EQ(Items("/registry/suite0"), std::vector<Item>{});
}

TEST_P(ContractScan, PagesOfEverySize) {
  PutMany(23);
  MustDelete(Numbered(7));
  for (const size_t limit : {1U, 2U, 5U, 11U, 21U, 22U, 23U, 1000U}) {
    EXPECT_EQ(Pages(limit, {}), model_.Items(kAll)) << limit;
  }
  // `more` is exact: it is false for a page that ends with the last key.
  const auto last = ScanPageNow(engine(), {.prefix = std::string(kAll), .limit = 22});
  ASSERT_TRUE(last.has_value());
  EXPECT_FALSE(last->more);
  const auto behind =
      ScanPageNow(engine(), {.prefix = std::string(kAll), .after = Numbered(22), .at = last->at});
  ASSERT_TRUE(behind.has_value());
  EXPECT_TRUE(behind->entries.empty());
  EXPECT_FALSE(behind->more);
}

TEST_P(ContractScan, PagesShowTheStateOfTheFirst) {
  PutMany(30);
  const std::vector<Item> before = model_.Items(kAll);
  int step = 0;
  const auto pages = Pages(4, {}, [&] {
    // Changes, deletes and adds keys on both sides of the reader's position.
    MustPut(Numbered(29 - step), "changed");
    MustDelete(Numbered(28 - step));
    MustPut(Numbered(step) + "new", "new");
    MustPut(Numbered(25) + std::to_string(step), "new");
    ++step;
  });
  EXPECT_GT(step, 5);
  EXPECT_EQ(pages, before);
  ExpectAsModel();
}

TEST_P(ContractScan, PagesHoldWhileWritersRun) {
  PutMany(40);
  std::atomic<bool> stop = false;
  // Each transaction writes two keys that are far apart with equal values. So they are equal in
  // every state.
  MustPut(Key("p00"), "0");
  Must({.puts = {{.key = Key("a"), .value = MakeValue("0")},
                 {.key = Key("z"), .value = MakeValue("0")}}});
  std::thread writer([&] {
    for (int i = 1; !stop; ++i) {
      const std::string value = MakeValue(std::to_string(i));
      const TxnReply reply =
          CommitNow(engine(), {.puts = {{.key = Key("z"), .value = value},
                                        {.key = Numbered(i % 40), .value = value},
                                        {.key = Key("a"), .value = value}}});
      EXPECT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
    }
  });
  for (int round = 0; round < 10; ++round) {
    const std::vector<Item> items = Pages(3, {});
    EXPECT_EQ(items.size(), 42U);
    EXPECT_TRUE(items.empty() || items.front().payload == items.back().payload);
  }
  stop = true;
  writer.join();
}

TEST_P(ContractScan, EveryPastStateCanBeRead) {
  const uint64_t seed = base::TestSeed(20261115);
  SCOPED_TRACE(testing::Message() << "BERTH_SEED=" << seed);
  base::SeededRandom random(seed);
  for (int i = 0; i < 12; ++i) Must(RandomWrites(random));
  // Revisions in the middle of transactions can be read as well.
  for (const RecordedEvent& event : model_.Events()) {
    const Revision at{event.item.revision};
    EXPECT_EQ(Items(kAll, at), model_.ItemsAt(kAll, at.value)) << at.value;
  }
  EXPECT_EQ(Items(kAll, Now()), model_.Items(kAll));
  // A past state can be read in pages.
  const Revision middle{model_.Events()[model_.Events().size() / 2].item.revision};
  EXPECT_EQ(Pages(2, middle), model_.ItemsAt(kAll, middle.value));
}

TEST_P(ContractScan, APageNamesTheRevisionItShows) {
  PutMany(3);
  const auto page = ScanPageNow(engine(), {.prefix = std::string(kAll)});
  ASSERT_TRUE(page.has_value());
  EXPECT_GE(page->at.value, model_.Last());
  MustPut(Numbered(1), "later");
  MustDelete(Numbered(2));
  EXPECT_EQ(Items(kAll, page->at), ToItems(page->entries));
  // A watch from that revision continues exactly after the page's state.
  EXPECT_EQ(EventsOf(kAll, page->at), model_.EventsAfter(kAll, page->at.value));
  EXPECT_EQ(EventsOf(kAll, page->at).size(), 2U);
}

TEST_P(ContractScan, KeysWithoutValues) {
  PutMany(5);
  const auto page = ScanPageNow(engine(), {.prefix = std::string(kAll), .keys_only = true});
  ASSERT_TRUE(page.has_value());
  std::vector<Item> expected;
  for (Item item : model_.Items(kAll)) {
    item.payload.clear();
    expected.push_back(std::move(item));
  }
  EXPECT_EQ(ToItems(page->entries), expected);
  for (const Entry& entry : page->entries) EXPECT_EQ(entry.value, "");
}

TEST_P(ContractScan, APageHasABoundInBytes) {
  // This does not fit into two pages, whatever an engine counts besides values.
  const std::string big(size_t{1} << 20, 'x');
  for (int i = 0; i < 18; ++i) MustPut(Numbered(i), big);
  const auto page = ScanPageNow(engine(), {.prefix = std::string(kAll)});
  ASSERT_TRUE(page.has_value());
  EXPECT_TRUE(page->more);
  EXPECT_GE(page->entries.size(), 1U);
  size_t bytes = 0;
  for (const Entry& entry : page->entries) bytes += entry.value.size();
  EXPECT_LE(bytes, kMaxPageBytes);
  EXPECT_EQ(Pages(1000, {}), model_.Items(kAll));
}

TEST_P(ContractScan, CompactionEndsThePastAndLeavesThePresent) {
  for (int i = 0; i < 3; ++i) MustPut(Key("a"), std::to_string(i));
  MustPut(Key("gone"), "x");
  MustDelete(Key("gone"));
  const Revision before = MustPut(Key("b"), "b");
  const Revision at = MustPut(Key("a"), "at");
  MustPut(Key("a"), "after");
  MustDelete(Key("b"));
  const std::vector<Item> state_at = model_.ItemsAt(kAll, at.value);

  const auto compacted = CompactNow(engine(), at);
  ASSERT_TRUE(compacted.has_value()) << compacted.error().message;
  EXPECT_EQ(Items(kAll), model_.Items(kAll));
  EXPECT_EQ(Items(kAll, at), state_at);
  EXPECT_EQ(Items(kAll, Now()), model_.Items(kAll));
  EXPECT_EQ(ReasonOf(ScanAll(engine(), std::string(kAll), before)), base::Reason::kExpired);
  EXPECT_EQ(EventsOf(kAll, at), model_.EventsAfter(kAll, at.value));

  // Compacts to the same revision, to an older one, and to the present.
  EXPECT_TRUE(CompactNow(engine(), at).has_value());
  EXPECT_TRUE(CompactNow(engine(), before).has_value());
  EXPECT_EQ(ReasonOf(ScanAll(engine(), std::string(kAll), before)), base::Reason::kExpired);
  EXPECT_TRUE(CompactNow(engine(), Now()).has_value());
  EXPECT_EQ(Items(kAll), model_.Items(kAll));
  EXPECT_EQ(ReasonOf(ScanAll(engine(), std::string(kAll), at)), base::Reason::kExpired);
  MustPut(Key("a"), "on");
  EXPECT_EQ(Items(kAll), model_.Items(kAll));
}

TEST_P(ContractScan, CompactionInTheMiddleOfATransaction) {
  Must({.puts = {{.key = Key("a"), .value = MakeValue("1")},
                 {.key = Key("b"), .value = MakeValue("1")}}});
  const TxnReply middle = Must({.puts = {{.key = Key("a"), .value = MakeValue("2")},
                                         {.key = Key("b"), .value = MakeValue("2")}}});
  ASSERT_EQ(middle.puts.size(), 2U);
  ASSERT_TRUE(CompactNow(engine(), middle.puts[0]).has_value());
  EXPECT_EQ(Items(kAll, middle.puts[0]), model_.ItemsAt(kAll, middle.puts[0].value));
  EXPECT_EQ(EventsOf(kAll, middle.puts[0]), model_.EventsAfter(kAll, middle.puts[0].value));
}

TEST_P(ContractScan, PagesEndWithTheirRevision) {
  PutMany(10);
  const auto page = ScanPageNow(engine(), {.prefix = std::string(kAll), .limit = 3});
  ASSERT_TRUE(page.has_value());
  const Revision later = MustPut(Numbered(9), "later");
  ASSERT_TRUE(CompactNow(engine(), later).has_value());
  const auto next = ScanPageNow(
      engine(), {.prefix = std::string(kAll), .after = page->entries.back().key, .at = page->at});
  EXPECT_EQ(ReasonOf(next), base::Reason::kExpired);
}

}  // namespace berth::store::contract
