#include "allocation/ledger/reserved_values.h"

#include <gtest/gtest.h>

#include <vector>

namespace berth::allocation {
namespace {

constexpr PoolValue kPort{.pool = PoolId::kPorts, .value = 30009};
constexpr PoolValue kAddress{.pool = PoolId::kIpv4, .value = 7};
constexpr Claimant kShop{.name_space = "shop", .name = "web"};

std::vector<PoolValue> AllFor(const ReservedValues& values, const Claimant& claimant) {
  const auto all = values.For(claimant);
  return {all.begin(), all.end()};
}

TEST(ReservedValuesTest, AServiceHasValuesOfSeveralPools) {
  ReservedValues values;
  values.Note({.value = kPort, .state = RecordState::kReserved, .reserved_for = "shop/web"}, 4);
  values.Note({.value = kAddress, .state = RecordState::kPending, .reserved_for = "shop/web"}, 5);
  EXPECT_EQ(AllFor(values, kShop), (std::vector<PoolValue>{kPort, kAddress}));
  EXPECT_TRUE(AllFor(values, {.name_space = "shop", .name = "web2"}).empty());
  ASSERT_NE(values.Find(kPort), nullptr);
  EXPECT_EQ(values.Find(kPort)->service, "shop/web");
  EXPECT_EQ(values.Find(kPort)->revision, 4);
  EXPECT_EQ(values.Find(kAddress)->state, RecordState::kPending);
  EXPECT_EQ(values.In(PoolId::kPorts).size(), 1U);
}

TEST(ReservedValuesTest, ARecordForNoServiceIsNotKept) {
  ReservedValues values;
  values.Note({.value = kPort, .state = RecordState::kReserved}, 4);
  EXPECT_EQ(values.Find(kPort), nullptr);
}

TEST(ReservedValuesTest, TheLastRecordCounts) {
  ReservedValues values;
  values.Note({.value = kPort, .state = RecordState::kReserved, .reserved_for = "shop/web"}, 4);
  values.Note({.value = kPort, .state = RecordState::kAllocated, .reserved_for = "shop/web"}, 5);
  EXPECT_EQ(values.Find(kPort)->revision, 5);
  EXPECT_EQ(AllFor(values, kShop).size(), 1U);
  values.Note({.value = kPort, .state = RecordState::kReserved, .reserved_for = "shop/db"}, 6);
  EXPECT_TRUE(AllFor(values, kShop).empty());
  EXPECT_EQ(AllFor(values, {.name_space = "shop", .name = "db"}).size(), 1U);
  values.Note({.value = kPort, .state = RecordState::kReserved, .reserved_for = "shop/db"}, 0);
  EXPECT_EQ(values.Find(kPort), nullptr) << "the record was deleted";
}

TEST(ReservedValuesTest, CoolingRecordsHaveTheirRevision) {
  ReservedValues values;
  values.Note({.value = kPort, .state = RecordState::kCooling}, 4);
  EXPECT_EQ(values.CoolingRevision(kPort), 4);
  EXPECT_EQ(values.CoolingRevision(kAddress), 0);
  values.Note({.value = kPort, .state = RecordState::kAllocated}, 5);
  EXPECT_EQ(values.CoolingRevision(kPort), 0);
}

TEST(ReservedValuesTest, NothingIsLeftAfterClear) {
  ReservedValues values;
  values.Note({.value = kPort, .state = RecordState::kCooling, .reserved_for = "shop/web"}, 4);
  values.Clear();
  EXPECT_EQ(values.Find(kPort), nullptr);
  EXPECT_EQ(values.CoolingRevision(kPort), 0);
  EXPECT_TRUE(AllFor(values, kShop).empty());
}

TEST(ReservedValuesTest, AServiceIsComparedAsAWhole) {
  EXPECT_TRUE(IsFor("shop/web", kShop));
  for (const char* other : {"shop/web2", "shop/we", "shop-web", "xhop/web", "", "/"}) {
    EXPECT_FALSE(IsFor(other, kShop)) << other;
  }
}

}  // namespace
}  // namespace berth::allocation
