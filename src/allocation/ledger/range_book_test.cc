#include "allocation/ledger/range_book.h"

#include <gtest/gtest.h>

#include "allocation/ledger/testing/records.h"

namespace berth::allocation {
namespace {

RangeUpdate RangeIs(const std::string& name, const std::string& body = "") {
  return {.key = name, .facts = testing::FactsOf(name, body)};
}

TEST(RangeBookTest, OnlyWhatRangesSayMakesANewTable) {
  RangeBook book;
  Callbacks callbacks;
  EXPECT_TRUE(book.Apply({RangeIs("r10.0.0.0_29")}, {}, callbacks));
  EXPECT_FALSE(book.Apply({RangeIs("r10.0.0.0_29", "status=new")}, {}, callbacks));
  EXPECT_TRUE(book.Apply({RangeIs("r10.0.0.0_29", "drained")}, {}, callbacks));
  EXPECT_FALSE(book.Apply({{.key = "unknown"}}, {}, callbacks));
  EXPECT_TRUE(book.Apply({{.key = "r10.0.0.0_29"}}, {}, callbacks));
}

TEST(RangeBookTest, FamiliesAreThoseOfTheLastTable) {
  RangeBook book;
  Callbacks callbacks;
  book.Apply({RangeIs("rfd00::_120")}, {}, callbacks);
  EXPECT_TRUE(book.Families().empty());
  EXPECT_EQ(book.MakeTable().rows[PoolId::kIpv6].size(), 1U);
  EXPECT_EQ(book.Families(), std::vector<ip::Family>{ip::Family::kV6});
  EXPECT_EQ(book.TablesMade(), 1U);
}

TEST(RangeBookTest, ATableIsWaitedForOnce) {
  RangeBook book;
  int called = 0;
  EXPECT_TRUE(book.AwaitTable(0, [&called] { ++called; }));
  book.MakeTable();
  EXPECT_FALSE(book.AwaitTable(0, [] {}));
  Callbacks callbacks;
  book.TakeTableCallbacks(callbacks);
  book.TakeTableCallbacks(callbacks);
  CallAll(callbacks);
  EXPECT_EQ(called, 1);
}

TEST(RangeBookTest, AFenceThatClosesARangeMakesANewTable) {
  RangeBook book;
  Callbacks callbacks;
  book.Apply({RangeIs("r10.0.0.0_29")}, {}, callbacks);
  const FenceChange open{.pool = PoolId::kIpv4, .revision = 5, .notified = 5};
  EXPECT_FALSE(book.Apply({}, {open}, callbacks)) << "it says nothing";
  EXPECT_EQ(book.Fence(PoolId::kIpv4), 5);
  FenceChange closing{.pool = PoolId::kIpv4, .revision = 6, .notified = 6};
  closing.closing.emplace().next["r10.0.0.0_29"] = std::nullopt;
  EXPECT_TRUE(book.Apply({}, {closing}, callbacks));
  EXPECT_TRUE(book.MakeTable().closing[PoolId::kIpv4]);
}

TEST(RangeBookTest, ADeletedFenceIsAChangeToo) {
  RangeBook book;
  Callbacks callbacks;
  book.Apply({}, {{.pool = PoolId::kIpv6, .revision = 5, .notified = 5}}, callbacks);
  EXPECT_FALSE(book.AwaitFence(PoolId::kIpv6, 4, [] {}));
  int called = 0;
  EXPECT_TRUE(book.AwaitFence(PoolId::kIpv6, 5, [&called] { ++called; }));
  EXPECT_TRUE(book.AwaitFence(PoolId::kIpv6, 9, [&called] { called += 10; }));
  EXPECT_TRUE(book.AwaitFence(PoolId::kIpv4, 5, [&called] { called += 100; }));
  book.Apply({}, {{.pool = PoolId::kIpv6, .notified = 8}}, callbacks);
  CallAll(callbacks);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(book.Fence(PoolId::kIpv6), 0);
  Callbacks rest;
  book.TakeCallbacks(rest);
  EXPECT_EQ(rest.size(), 2U);
}

}  // namespace
}  // namespace berth::allocation
