// The model test on the engines of real servers: one server on RocksDB, several on etcd. There are
// no faults, which only the memory engine can inject. Nothing expires, because a real engine
// expires records in its own time.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/temp_dir.h"
#include "codec/slot.h"
#include "model/services_seeds.h"
#include "store/etcd/testing/shared_etcd.h"
#include "store/rocks/rocks_engine.h"

namespace berth::model {
namespace {

/// Engines have threads, so they get a clock and a log of their own.
class RocksBackend final : public Backend {
 public:
  RocksBackend() {
    engine_ =
        store::rocks::RocksEngine::Open({.directory = directory_.Path() + "/store"}, log_, clock_)
            .value();
  }
  store::Engine& At(size_t /*replica*/) override { return *engine_; }

 private:
  const base::TempDir directory_{base::TempDir::Medium::kMemory};
  base::SystemClock clock_;
  base::Logger log_{{.sink = [](std::string_view) {}}, clock_};
  std::unique_ptr<store::Engine> engine_;
};

class EtcdBackend final : public Backend {
 public:
  store::Engine& At(size_t replica) override {
    std::unique_ptr<store::Engine>& engine = engines_[replica];
    if (!engine) {
      engine = store::etcd::EtcdEngine::Open(
                   store::etcd::testing::SharedEtcd::Cluster().Client(), {.prefix = prefix_},
                   {.write = codec::WriteSlot, .read = codec::ReadSlot}, log_, clock_)
                   .value();
    }
    return *engine;
  }

 private:
  const std::string prefix_ = store::etcd::testing::SharedEtcd::FreshPrefix();
  base::SystemClock clock_;
  base::Logger log_{{.sink = [](std::string_view) {}}, clock_};
  std::map<size_t, std::unique_ptr<store::Engine>> engines_;
};

void OnRealEngine(Scene& scene, base::Random& random) {
  scene.habits.hold = 0;
  scene.filled = 0;
  scene.in_flight = 2 + base::Uniform(random, 8);
  scene.steps = 400;
  scene.restarts = static_cast<int>(base::Uniform(random, 10));
}

void WithRanges(Scene& scene, base::Random& random) {
  OnRealEngine(scene, random);
  scene.habits.ranges = 5 + static_cast<int>(base::Uniform(random, 15));
  scene.habits.kept = static_cast<int>(base::Uniform(random, 20));
}

void WithForms(Scene& scene, base::Random& random) {
  OnRealEngine(scene, random);
  scene.bitmaps = base::Uniform(random, 2) == 0;
  scene.switches = 10;
}

template <typename Kind, typename Change>
Seen RunOn(uint64_t first, size_t servers, const Change& change) {
  std::unique_ptr<Kind> backend;
  return RunSeeds(50, first, [&](Scene& scene, base::Random& random) {
    change(scene, random);
    scene.gates.resize(servers);
    backend = std::make_unique<Kind>();
    scene.backend = backend.get();
  });
}

TEST(ServicesEnginesTest, RangesOnRocks) {
  const Seen seen = RunOn<RocksBackend>(31'000'000, 1, WithRanges);
  EXPECT_TRUE(!WholeRun() || seen.ranges > 20);
}

TEST(ServicesEnginesTest, RangesOnEtcd) {
  const Seen seen = RunOn<EtcdBackend>(32'000'000, 2, WithRanges);
  EXPECT_TRUE(!WholeRun() || seen.ranges > 20);
}

TEST(ServicesEnginesTest, FormsOnRocks) {
  const Seen seen = RunOn<RocksBackend>(33'000'000, 1, WithForms);
  EXPECT_TRUE(!WholeRun() || seen.merged > 0);
}

TEST(ServicesEnginesTest, FormsOnEtcd) {
  const Seen seen = RunOn<EtcdBackend>(34'000'000, 2, WithForms);
  EXPECT_TRUE(!WholeRun() || seen.switches > 0);
}

}  // namespace
}  // namespace berth::model
