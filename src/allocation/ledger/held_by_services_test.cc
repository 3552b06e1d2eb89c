#include "allocation/ledger/held_by_services.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "base/testing/base_kit.h"

namespace berth::allocation {
namespace {

using alloc::State;

TEST(HeldByServices, WhatAServiceHoldsIsTakenWhateverTheRecordSays) {
  HeldByServices held;
  EXPECT_EQ(held.Say(1, State::kReserved), State::kReserved) << "nobody holds it";
  held.Add(1, State::kReserved);
  EXPECT_EQ(held.Say(1, State::kFree), State::kTaken);
  EXPECT_EQ(held.Say(1, State::kCooling), State::kTaken);
  EXPECT_EQ(held.Remove(1), State::kCooling) << "what the record said last";
  EXPECT_EQ(held.Count(1), 0u);
}

TEST(HeldByServices, TheLastOneReleases) {
  HeldByServices held;
  held.Add(7, State::kFree);
  held.Add(7, State::kTaken);
  held.Add(7, State::kTaken);
  EXPECT_EQ(held.Count(7), 3u);
  EXPECT_EQ(held.Remove(7), State::kTaken);
  EXPECT_EQ(held.Remove(7), State::kTaken);
  EXPECT_EQ(held.Count(7), 1u);
  EXPECT_EQ(held.Remove(7), State::kFree);
}

TEST(HeldByServices, IsAsASimpleModelOfIt) {
  struct Model {
    State said = State::kFree;
    size_t holders = 0;
    State Stored() const { return holders > 0 ? State::kTaken : said; }
  };
  base::SeededRandom random(base::TestSeed(1));
  HeldByServices held;
  std::map<uint64_t, Model> model;
  for (int64_t i = 0; i < base::LongCount(1'000'000); ++i) {
    // Also values that need more than 32 bits.
    const uint64_t value = base::Uniform(random, 8) << (4 * base::Uniform(random, 12));
    Model& one = model[value];
    switch (base::Uniform(random, 3)) {
      case 0:
        held.Add(value, one.Stored());
        ++one.holders;
        break;
      case 1:
        if (one.holders == 0) break;
        --one.holders;
        ASSERT_EQ(held.Remove(value), one.Stored());
        break;
      default:
        one.said = static_cast<State>(base::Uniform(random, 4));
        ASSERT_EQ(held.Say(value, one.said), one.Stored());
    }
    ASSERT_EQ(held.Count(value), one.holders);
  }
}

}  // namespace
}  // namespace berth::allocation
