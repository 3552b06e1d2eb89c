// Services that hold values with and without records.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/ledger/testing/ledger.h"
#include "base/testing/base_kit.h"

namespace berth::allocation {
namespace {

using alloc::State;
using ::testing::IsEmpty;
using ::testing::Optional;
using Becomes = ReleasedValue::Becomes;
using Why = Denial::Why;

using LedgerServicesTest = testing::LedgerTest;

TEST_F(LedgerServicesTest, AValueOfAServiceWithoutARecordIsTaken) {
  Put("s-web", "10.0.0.1");
  EXPECT_THAT(WhyNot(The("10.0.0.1")), Optional(Why::kTaken));
  EXPECT_EQ(Free(), 5u) << "counts include it";
  for (int i = 0; i < 5; ++i) Commit({Any()});
  EXPECT_THAT(WhyNot(Any()), Optional(Why::kFull)) << "no pick returns it";
  Delete("s-web");
  EXPECT_EQ(WhyNot(The("10.0.0.1")), std::nullopt);
}

TEST_F(LedgerServicesTest, ALostRecordFreesNothing) {
  Put("10.0.0.1");
  Put("s-web", "10.0.0.1");
  Delete("10.0.0.1");
  EXPECT_THAT(WhyNot(The("10.0.0.1")), Optional(Why::kTaken));
  Put("10.0.0.1");
  Delete("s-web");
  EXPECT_TRUE(Held("10.0.0.1")) << "its record is there again";
  Delete("10.0.0.1");
  EXPECT_FALSE(Held("10.0.0.1"));
}

TEST_F(LedgerServicesTest, AValueOfTwoServicesIsTakenUntilBothAreGone) {
  Put("10.0.0.1");
  Put("s-one", "10.0.0.1");
  Put("s-two", "10.0.0.1 10.0.0.2");
  Delete("s-one");
  Delete("10.0.0.1");
  EXPECT_TRUE(Held("10.0.0.1"));
  Put("s-two", "10.0.0.2");
  EXPECT_FALSE(Held("10.0.0.1"));
  EXPECT_TRUE(Held("10.0.0.2"));
}

TEST_F(LedgerServicesTest, AServiceMovesFromOneValueToAnother) {
  Put("s-web", "10.0.0.1 10.0.0.2");
  Put("s-web", "10.0.0.2 10.0.0.3");
  EXPECT_FALSE(Held("10.0.0.1"));
  EXPECT_TRUE(Held("10.0.0.2"));
  EXPECT_TRUE(Held("10.0.0.3"));
}

TEST_F(LedgerServicesTest, WhatTheRecordSaysComesBackWhenTheServiceGoes) {
  Put("s-web", "10.0.0.1");
  Put("10.0.0.1", "reserved shop/web");
  EXPECT_THAT(WhyNot(The("10.0.0.1")), Optional(Why::kTaken)) << "a Service has it";
  const auto own = Request({The("10.0.0.1")}, {}, {.name_space = "shop", .name = "web"});
  EXPECT_FALSE(own) << "not even for the Service that it is reserved for";
  Delete("s-web");
  EXPECT_THAT(WhyNot(The("10.0.0.1")), Optional(Why::kReserved));
  EXPECT_TRUE(Request({The("10.0.0.1")}, {}, {.name_space = "shop", .name = "web"}));
}

TEST_F(LedgerServicesTest, ACoolingRecordCountsOnceItsServiceIsWritten) {
  Put("10.0.0.1");
  Put("s-web", "10.0.0.1");
  // In the order of a transaction: the record first, then the Service.
  Put("10.0.0.1", "cooling");
  EXPECT_TRUE(Held("10.0.0.1"));
  EXPECT_THAT(WhyNot(The("10.0.0.1")), Optional(Why::kTaken));
  Put("s-web", "10.0.0.2");
  EXPECT_EQ(WhyNot(The("10.0.0.1")), std::nullopt);
  EXPECT_EQ(Free(), 4u) << "one is taken and one is cooling";
}

TEST_F(LedgerServicesTest, AFailedWriteDoesNotFreeWhatAServiceGotMeanwhile) {
  const auto grant = Request({The("10.0.0.1")});
  ASSERT_TRUE(grant);
  Put("s-web", "10.0.0.1");
  ledger_.EndGrant(*grant);
  EXPECT_TRUE(Held("10.0.0.1"));
  Delete("s-web");
  EXPECT_FALSE(Held("10.0.0.1"));
}

TEST_F(LedgerServicesTest, ATakeIsAnsweredWhenTheWriteOfTheServiceEnds) {
  Put("10.0.0.1");
  Put("s-web", "10.0.0.1");
  const auto release = Request({}, {Of("10.0.0.1")});
  ASSERT_TRUE(release);
  EXPECT_FALSE(release->releases[0].held_by_another);
  auto denied = Request({The("10.0.0.1")});
  ASSERT_FALSE(denied);
  ASSERT_TRUE(denied.error().wait) << "the release may be committed";
  bool called = false;
  ASSERT_TRUE(denied.error().wait([&called] { called = true; }));
  Delete("s-web");
  Delete("10.0.0.1");
  ledger_.EndGrant(*release);
  EXPECT_TRUE(called);
  EXPECT_EQ(WhyNot(The("10.0.0.1")), std::nullopt);
}

TEST_F(LedgerServicesTest, AReleaseSaysThatAnotherServiceHoldsTheValue) {
  Put("r10.0.0.0_29", "cool=60");
  Put("10.0.0.1");
  Put("s-one", "10.0.0.1");
  Put("s-two", "10.0.0.1");
  const auto first = Request({}, {Of("10.0.0.1")});
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->releases[0].held_by_another);
  EXPECT_EQ(first->releases[0].becomes, Becomes::kGone) << "what is in use does not cool down";
  Delete("s-one");
  ledger_.EndGrant(*first);
  EXPECT_TRUE(Held("10.0.0.1"));
  const auto second = Request({}, {Of("10.0.0.1")});
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->releases[0].held_by_another);
  ledger_.EndGrant(*second);
}

TEST_F(LedgerServicesTest, ASnapshotIsReadWithItsServices) {
  const auto object = [this](const std::string& name, const std::string& body) {
    return state::Object::Make(*resources_.Find(testing::RecordKey(name)), ++revision_,
                               state::testing::Wire(body));
  };
  Ledger fresh(testing::Reader(), base::SeededRandom(1));
  const auto web = object("s-web", "10.0.0.1");
  const auto db = object("s-db", "10.0.0.2");
  const auto record = object("10.0.0.2", "");
  fresh.OnReset(
      {{.object = record}, {.object = object("r10.0.0.0_29", "")}, {.object = web}, {.object = db}},
      revision_);
  EXPECT_TRUE(LedgerView(fresh).IsHeld(Of("10.0.0.1")));
  EXPECT_TRUE(LedgerView(fresh).IsHeld(Of("10.0.0.2")));
  // Read again: one record is lost, one Service has gone and another one has come.
  fresh.OnReset({{.previous = record}, {.object = object("s-new", "10.0.0.3")}, {.previous = web}},
                revision_);
  EXPECT_FALSE(LedgerView(fresh).IsHeld(Of("10.0.0.1")));
  EXPECT_TRUE(LedgerView(fresh).IsHeld(Of("10.0.0.2")));
  EXPECT_TRUE(LedgerView(fresh).IsHeld(Of("10.0.0.3")));
}

/// Services and records come and go in random order, and writes begin and end. No value is ever
/// granted that a Service holds, that has a record, or that another write takes.
TEST_F(LedgerServicesTest, NothingThatIsHeldIsGrantedInAnyOrderOfEvents) {
  const uint64_t seed = base::TestSeed(1);
  SCOPED_TRACE(seed);
  base::SeededRandom random(seed);
  std::map<std::string, std::string> services;
  std::map<std::string, std::string> records;
  std::vector<Grant> grants;
  const auto address = [&random] { return "10.0.0." + std::to_string(1 + Uniform(random, 6)); };
  const auto is_taken = [&](const std::string& value) {
    if (records.contains(value)) return true;
    for (const auto& [name, held] : services) {
      if ((held + " ").find(value + " ") != std::string::npos) return true;
    }
    return std::ranges::any_of(grants, [&](const Grant& grant) {
      return std::ranges::any_of(grant.values, [&](U128 has) { return Name(has) == value; });
    });
  };
  for (int64_t i = 0; i < base::LongCount(200'000); ++i) {
    const std::string value = address();
    const std::string name = "s-" + std::to_string(Uniform(random, 4));
    switch (Uniform(random, 6)) {
      case 0:
        services[name] = Uniform(random, 3) == 0 ? value + " " + address() : value;
        Put(name, services[name]);
        break;
      case 1:
        if (services.erase(name) > 0) Delete(name);
        break;
      case 2:
        records[value] = std::vector{"", "reserved", "reserved shop/web"}[Uniform(random, 3)];
        Put(value, records[value]);
        break;
      case 3:
        if (records.erase(value) > 0) Delete(value);
        break;
      case 4:
        if (grants.empty()) break;
        ledger_.EndGrant(grants.back());
        grants.pop_back();
        break;
      default: {
        const bool any = Uniform(random, 2) == 0;
        const bool releases = Uniform(random, 3) == 0;
        auto grant = Request({any ? Any() : The(value)},
                             releases ? std::vector{Of(address())} : std::vector<PoolValue>());
        if (!grant) {
          ASSERT_TRUE(any || is_taken(value)) << value << " was refused for nothing, step " << i;
          break;
        }
        ASSERT_FALSE(is_taken(Name(grant->values[0]))) << "at step " << i;
        grants.push_back(*std::move(grant));
      }
    }
    ASSERT_EQ(Held(value), is_taken(value)) << value << " at step " << i;
  }
}

}  // namespace
}  // namespace berth::allocation
