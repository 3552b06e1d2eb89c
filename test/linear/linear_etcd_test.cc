// Histories of concurrent clients on a real etcd: on several replicas, each with its own engine on
// the same prefix, and of many clients on one engine, whose transactions are then sent in groups.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/testing/base_kit.h"
#include "linear/workload.h"
#include "store/etcd/etcd_engine.h"
#include "store/etcd/testing/etcd_server.h"
#include "store/testing/contract_fixture.h"

namespace berth::linear {
namespace {

using store::etcd::EtcdEngine;
using store::etcd::testing::EtcdCluster;

struct Setup {
  std::string name;
  int members = 1;
  int replicas = 1;
  size_t clients = 6;
  size_t keys = 6;
};

void PrintTo(const Setup& setup, std::ostream* out) { *out << setup.name; }

class LinearEtcdTest : public testing::TestWithParam<Setup> {
 protected:
  void SetUp() override {
    auto cluster = EtcdCluster::Start({.members = GetParam().members});
    ASSERT_TRUE(cluster) << cluster.error().message;
    cluster_ = std::move(*cluster);
    for (int i = 0; i < GetParam().replicas; ++i) {
      auto replica =
          EtcdEngine::Open(cluster_->Client(), {}, store::contract::TestSlotCodec(), log_, clock_);
      ASSERT_TRUE(replica) << replica.error().message;
      replicas_.push_back(std::move(*replica));
    }
  }

  std::vector<store::Engine*> Engines() const {
    std::vector<store::Engine*> engines;
    for (const auto& replica : replicas_) engines.push_back(replica.get());
    return engines;
  }

  const base::SystemClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
  std::unique_ptr<EtcdCluster> cluster_;
  std::vector<std::unique_ptr<EtcdEngine>> replicas_;
};

TEST_P(LinearEtcdTest, Histories) {
  const uint64_t seed = base::TestSeed(1);
  const int64_t count = base::LongCount(30);
  Counts counts;
  for (int64_t i = 0; i < count && !HasFailure(); ++i) {
    const uint64_t own_seed = seed + static_cast<uint64_t>(i);
    const Recording recording =
        RunWorkload(Engines(), {.prefix = fmt::format("/registry/linear/{}/", i),
                                .keys = GetParam().keys + own_seed % 3,
                                .clients = GetParam().clients,
                                .seed = own_seed,
                                .encode = store::contract::MakeValue,
                                .decode = store::contract::Payload});
    EXPECT_EQ(CheckAll(recording, &counts), "") << "BERTH_SEED=" << own_seed;
  }
  fmt::print("etcd, {}: {}\n", GetParam().name, Describe(counts));
  EXPECT_GT(counts.committed, counts.operations / 5);
  EXPECT_GT(counts.conflicts, counts.operations / 20);
}

INSTANTIATE_TEST_SUITE_P(
    Setups, LinearEtcdTest,
    testing::Values(Setup{.name = "OneReplica", .clients = 12, .keys = 12},
                    Setup{.name = "ThreeReplicas", .replicas = 3},
                    Setup{.name = "ThreeReplicasThreeMembers", .members = 3, .replicas = 3}),
    testing::PrintToStringParamName());

}  // namespace
}  // namespace berth::linear
