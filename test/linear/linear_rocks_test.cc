// Histories of concurrent clients on the embedded engine, which shares one sync among clients that
// wait at the same time. Every few histories the store is closed and opened again.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/testing/base_kit.h"
#include "linear/workload.h"
#include "store/rocks/rocks_engine.h"

namespace berth::linear {
namespace {

class LinearRocksTest : public testing::Test {
 protected:
  LinearRocksTest() : directory_(testing::TempDir() + "linear_rocks_XXXXXX") {
    if (mkdtemp(directory_.data()) == nullptr) ADD_FAILURE() << "cannot make " << directory_;
  }
  ~LinearRocksTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  std::unique_ptr<store::rocks::RocksEngine> Open() {
    store::rocks::RocksOptions options;
    options.directory = directory_ + "/store";
    auto engine = store::rocks::RocksEngine::Open(options, log_, clock_);
    if (engine) return std::move(*engine);
    ADD_FAILURE() << engine.error().message;
    return nullptr;
  }

  std::string directory_;
  const base::SystemClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kWarn}, clock_};
};

TEST_F(LinearRocksTest, Histories) {
  const uint64_t seed = base::TestSeed(1);
  const int64_t count = base::LongCount(50);
  constexpr int64_t kBetweenOpens = 3;
  Counts counts;
  std::unique_ptr<store::rocks::RocksEngine> engine;
  for (int64_t i = 0; i < count && !HasFailure(); ++i) {
    const uint64_t own_seed = seed + static_cast<uint64_t>(i);
    if (i % kBetweenOpens == 0) {
      engine.reset();
      engine = Open();
      ASSERT_NE(engine, nullptr);
    }
    const std::string prefix = fmt::format("/registry/linear/{}/", i);
    const Recording recording =
        RunWorkload({engine.get()}, {.prefix = prefix, .keys = 5 + own_seed % 4, .seed = own_seed});
    EXPECT_EQ(CheckAll(recording, &counts), "") << "BERTH_SEED=" << own_seed;
  }
  fmt::print("rocks: {}\n", Describe(counts));
  EXPECT_GT(counts.committed, counts.operations / 5);
  EXPECT_GT(counts.conflicts, counts.operations / 20);
  EXPECT_EQ(counts.unknown + counts.refused + counts.failed_reads, 0U);
}

}  // namespace
}  // namespace berth::linear
