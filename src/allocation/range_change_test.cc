// The steps of a change of a range, seen by the transactions that it commits.
#include "allocation/range_change.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/fences.h"
#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Parse;
using allocation::testing::Text;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kRange = "allocator.ipv4.k8s.io";

class RangeChangeTest : public allocation::testing::RegistryTest {
 protected:
  RangeChangeTest() {
    Must(Create(At("allocation.berth.io/ipranges", "", ""),
                "{'metadata':{'name':'allocator.ipv4.k8s.io'},"
                "'spec':{'range':'10.96.0.0/16','primary':true}}"));
    committed_ = sequencer_->GetStats().committed;
  }

  base::Result<registry::Outcome> Resize(const std::string& range,
                                         const registry::CommonOptions& options = {}) {
    return Update(At("allocation.berth.io/ipranges", "", kRange),
                  "{'metadata':{'name':'allocator.ipv4.k8s.io'},'spec':{'range':'" + range +
                      "','primary':true}}",
                  registry::Door::kMain, options);
  }
  void Serve(const std::string& address) {
    Must(Create(Service(""), "{'metadata':{'name':'a'},'spec':{'clusterIP':'" + address +
                                 "','ports':[{'port':80}]}}"));
    committed_ = sequencer_->GetStats().committed;
  }
  /// Returns how many writes were committed since the last call.
  uint64_t Commits() {
    const uint64_t before = std::exchange(committed_, sequencer_->GetStats().committed);
    return committed_ - before;
  }
  bool IsClosed(alloc::PoolId pool) const {
    const auto fence = follower_->Current()->Find(FenceKey(pool));
    return fence != nullptr && ReadFence(*RecordRowsOf(kinds_).fences, *fence).has_value();
  }

  uint64_t committed_ = 0;
};

TEST_F(RangeChangeTest, ALargerRangeIsOneCommit) {
  EXPECT_THAT(Text(Resize("10.96.0.0/15")), StartsWith("updated"));
  EXPECT_EQ(Commits(), 1U);
}

TEST_F(RangeChangeTest, ASmallerRangeIsACloseAndACommitAndNothingMore) {
  EXPECT_THAT(Text(Resize("10.96.0.0/24")), StartsWith("updated"));
  EXPECT_EQ(Commits(), 2U);
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv4));
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv6));
}

TEST_F(RangeChangeTest, ARefusedOneIsACloseAndAReopen) {
  Serve("10.96.7.7");
  EXPECT_THAT(Text(Resize("10.96.0.0/24")), HasSubstr("10.96.7.7 (Service shop/a)"));
  EXPECT_EQ(Commits(), 2U);
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv4));
  EXPECT_FALSE(IsClosed(alloc::PoolId::kIpv6));
}

TEST_F(RangeChangeTest, ADryRunWritesNothing) {
  Serve("10.96.7.7");
  EXPECT_THAT(Text(Resize("10.96.0.0/24", {.dry_run = true})), HasSubstr("10.96.7.7"));
  EXPECT_THAT(Text(Resize("10.96.0.0/20", {.dry_run = true})), StartsWith("updated"));
  EXPECT_EQ(Commits(), 0U);
}

/// The fences of all pools that a change closes are closed by one write, so that no other change
/// ever sees one of them closed and another one open.
TEST_F(RangeChangeTest, AllPoolsCloseTogether) {
  std::vector<std::string> seen;
  std::optional<base::Result<registry::Outcome>> answer;
  registry_->Update(At("allocation.berth.io/ipranges", "", kRange), {},
                    Always(Parse(Kind("allocation.berth.io/ipranges"),
                                 "{'metadata':{'name':'allocator.ipv4.k8s.io'},"
                                 "'spec':{'range':'10.96.0.0/24','primary':true}}")),
                    {},
                    [&](base::Result<registry::Outcome> outcome) { answer = std::move(outcome); });
  while (!answer && follower_->Pump()) {
    seen.push_back(std::string(IsClosed(alloc::PoolId::kIpv4) ? "closed" : "open") +
                   (IsClosed(alloc::PoolId::kIpv6) ? " closed" : " open"));
  }
  ASSERT_TRUE(answer);
  EXPECT_THAT(Text(*answer), StartsWith("updated"));
  EXPECT_THAT(seen, ::testing::Contains("closed closed"));
  EXPECT_THAT(seen, ::testing::Each(::testing::AnyOf("closed closed", "open open")));
}

}  // namespace
}  // namespace berth::allocation
