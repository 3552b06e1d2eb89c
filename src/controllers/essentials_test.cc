#include "controllers/essentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "allocation/fences.h"
#include "allocation/testing/registry_stack.h"

namespace berth::controllers {
namespace {

constexpr const char* kPorts =
    "/registry/allocation.berth.io/nodeportranges/allocator.nodeport.k8s.io";
constexpr const char* kCidr = "/registry/servicecidrs/kubernetes";
constexpr const char* kRange = "/registry/allocation.berth.io/ipranges/allocator.ipv4.k8s.io";

/// A server on a store in memory, from which keys are deleted as another program would.
class EssentialsTest : public ::testing::Test {
 protected:
  EssentialsTest() {
    store_.OpenForThreads();
    follower_.emplace(*store_.engine, resources_, std::vector<state::Listener*>{&addresses_.ledger},
                      state::FollowerOptions{.shared_store = true}, store_.system_clock, log_);
    sequencer_.emplace(commit::SequencerParts{*store_.engine, *follower_, resources_,
                                              store_.system_clock, *follower_},
                       commit::SequencerOptions{});
    hooked_.emplace(kinds_, resources_, *sequencer_, addresses_.ledger, store_.system_clock);
    follower_->Start();
    EXPECT_TRUE(follower_->WaitReady(std::chrono::seconds(60)));
    options_.cidrs = {ip::ParseCidr("10.0.0.0/24").value()};
    EXPECT_TRUE(Bootstrap(Parts(), options_));
  }
  ~EssentialsTest() override {
    sequencer_->Close();
    follower_->Stop();
  }

  BootstrapParts Parts() {
    return {.registry = hooked_->registry,
            .follower = *follower_,
            .ledger = addresses_.ledger,
            .allocator = hooked_->allocator,
            .clock = store_.system_clock,
            .log = log_};
  }

  /// Returns the lost key, and "!" after it if it cannot be decoded. Returns "" if none is lost.
  std::string Lost() {
    const auto lost = FindLost(hooked_->registry, *follower_);
    return lost ? lost->key + (lost->undecodable ? "!" : "") : "";
  }
  void Delete(const std::string& key) {
    ASSERT_EQ(store::CommitNow(*store_.engine, {.deletes = {key}}).outcome,
              store::Outcome::kCommitted);
  }
  bool AwaitLost(const std::string& key) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (Lost() != key) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  state::testing::TestStore store_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, store_.system_clock};
  const registry::Kinds kinds_;
  const state::Resources resources_{kinds_.MakeResources()};
  allocation::testing::TestAddresses addresses_{kinds_};
  std::optional<state::Follower> follower_;
  std::optional<commit::Sequencer> sequencer_;
  std::optional<allocation::testing::TestRegistry> hooked_;
  BootstrapOptions options_;
};

TEST_F(EssentialsTest, WhatIsGoneIsFoundAndMadeAgain) {
  EXPECT_EQ(Lost(), "");
  for (const std::string& key : {std::string(kPorts), std::string(kCidr), std::string(kRange),
                                 allocation::FenceKey(alloc::PoolId::kPorts)}) {
    Delete(key);
    EXPECT_TRUE(AwaitLost(key)) << key << " or " << Lost();
    const auto made = EnsureEssentials(Parts(), options_);
    EXPECT_TRUE(made) << made.error().message;
    EXPECT_EQ(Lost(), "");
  }
}

TEST_F(EssentialsTest, TheKeeperDoesIt) {
  for (const std::string& key :
       {std::string("/registry/namespaces/default"), std::string(kRange), std::string(kCidr)}) {
    Delete(key);
    EXPECT_TRUE(AwaitLost(key)) << key << " or " << Lost();
  }
  EssentialsKeeper keeper(Parts(), options_);
  keeper.Start();
  EXPECT_TRUE(AwaitLost(""));
  keeper.Stop();
  EXPECT_TRUE(follower_->Current()->Find(kRange));
}

TEST_F(EssentialsTest, WhatCannotBeDecodedIsLeftAlone) {
  const std::string key = allocation::FenceKey(alloc::PoolId::kIpv4);
  store_.Put(key, "garbage");
  EXPECT_TRUE(AwaitLost(key + "!"));
  EXPECT_FALSE(EnsureEssentials(Parts(), options_));
  EXPECT_EQ((*store::GetNow(*store_.engine, key))->value, "garbage");
}

}  // namespace
}  // namespace berth::controllers
