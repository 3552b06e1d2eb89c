#include "allocation/ledger/grant_attempt.h"

#include <gtest/gtest.h>

#include <vector>

#include "allocation/ledger/testing/records.h"

namespace berth::allocation {
namespace {

/// A ledger with the range 10.0.0.0/29, which has the values 1 to 6.
class GrantAttemptTest : public ::testing::Test {
 protected:
  GrantAttemptTest() {
    Callbacks callbacks;
    state_.ranges.Apply({{.key = "r", .facts = testing::FactsOf("r10.0.0.0_29", "")}}, {},
                        callbacks);
    state_.MakeTable(callbacks);
  }
  static PoolValue Address(unsigned last) {
    return {.pool = PoolId::kIpv4, .value = ip::ParseAddr("10.0.0.0")->bits() + last};
  }
  static Claim The(unsigned last) { return {.pool = PoolId::kIpv4, .wanted = Address(last).value}; }
  const LedgerPool& Pool() const { return state_.pools[PoolId::kIpv4]; }

  LedgerState state_{base::SeededRandom(1)};
  const Claimant claimant_{.name_space = "shop", .name = "web"};
};

TEST_F(GrantAttemptTest, AGrantIsInFlight) {
  const std::vector<Claim> claims = {The(3), {.pool = PoolId::kIpv4}};
  GrantAttempt attempt(state_, claimant_, claims, std::nullopt);
  ASSERT_FALSE(attempt.TakeAll());
  const std::vector<PoolValue> released = {Address(9)};
  const Grant grant = std::move(attempt).Finish(released);
  EXPECT_EQ(grant.values[0], Address(3).value);
  EXPECT_EQ(grant.takes.size(), 2U);
  EXPECT_EQ(grant.releases.size(), 1U);
  EXPECT_TRUE(Pool().in_flight.HasMoreThan(2, nullptr));
  Callbacks callbacks;
  state_.End(grant, callbacks);
  EXPECT_TRUE(Pool().in_flight.IsEmpty());
  EXPECT_FALSE(Pool().values.IsHeld(Address(3).value));
}

TEST_F(GrantAttemptTest, ADenialLeavesNoTrace) {
  Callbacks callbacks;
  state_.ApplyRecord({.value = Address(5)}, 7, callbacks);
  const std::vector<Claim> claims = {The(3), {.pool = PoolId::kIpv4}, The(5)};
  GrantAttempt attempt(state_, claimant_, claims, std::nullopt);
  const auto denied = attempt.TakeAll();
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->denial.claim, 2U);
  EXPECT_EQ(denied->denial.why, Denial::Why::kTaken);
  EXPECT_EQ(denied->wait.kind, WaitTarget::Kind::kNothing);
  EXPECT_TRUE(Pool().in_flight.IsEmpty());
  EXPECT_EQ(Pool().values.Available(), U128{5});
}

TEST_F(GrantAttemptTest, OneThatWaitsForAFullPoolGetsATicketAndKeepsIt) {
  const std::vector<Claim> all(6, Claim{.pool = PoolId::kIpv4});
  GrantAttempt first(state_, claimant_, all, std::nullopt);
  ASSERT_FALSE(first.TakeAll());
  const std::vector<Claim> one(1, Claim{.pool = PoolId::kIpv4});
  const auto denied = GrantAttempt(state_, claimant_, one, std::nullopt).TakeAll();
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->wait.kind, WaitTarget::Kind::kQueue);
  const uint64_t ticket = denied->wait.ticket;
  EXPECT_EQ(GrantAttempt(state_, claimant_, one, ticket).TakeAll()->wait.ticket, ticket);
  EXPECT_GT(GrantAttempt(state_, claimant_, one, std::nullopt).TakeAll()->wait.ticket, ticket);
  EXPECT_TRUE(state_.Await(denied->wait, [] {}));
  Callbacks callbacks;
  state_.LeaveQueues(ticket, callbacks);
  EXPECT_FALSE(state_.Await(denied->wait, [] {})) << "something has changed since";
}

TEST_F(GrantAttemptTest, OneThatWantsATakenValueWaitsForIt) {
  const std::vector<Claim> claims = {The(3)};
  GrantAttempt first(state_, claimant_, claims, std::nullopt);
  ASSERT_FALSE(first.TakeAll());
  const auto denied = GrantAttempt(state_, claimant_, claims, std::nullopt).TakeAll();
  ASSERT_TRUE(denied);
  EXPECT_EQ(denied->wait.kind, WaitTarget::Kind::kValue);
  int called = 0;
  EXPECT_TRUE(state_.Await(denied->wait, [&called] { ++called; }));
  Callbacks callbacks;
  state_.End(std::move(first).Finish({}), callbacks);
  CallAll(callbacks);
  EXPECT_EQ(called, 1);
}

}  // namespace
}  // namespace berth::allocation
