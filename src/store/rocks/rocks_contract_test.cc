#include <memory>

#include "base/clock.h"
#include "base/log.h"
#include "store/rocks/testing/rocks_testing.h"
#include "store/testing/contract_durable_suite.h"
#include "store/testing/contract_suite.h"

namespace berth::store::contract {

class RocksUnderTest final : public StoreUnderTest {
 public:
  std::unique_ptr<Engine> Open(const Sizes& sizes) override {
    rocks::RocksOptions options;
    options.directory = dir_.Path() + "/store";
    options.ring_bytes = sizes.ring_bytes;
    options.history_bytes = sizes.history_bytes;
    rocks::Seams seams;
    seams.housekeeping = std::chrono::milliseconds(10);
    auto engine = rocks::OpenWith(options, seams, log_, clock_);
    if (engine) return std::move(*engine);
    ADD_FAILURE() << engine.error().message;
    return nullptr;
  }

  void Pass(std::chrono::milliseconds time) override {
    clock_.Advance(time);
    // The engine reads the clock every 10 ms.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  base::SteadyTime Now() override { return clock_.Steady(); }

 private:
  const rocks::TempDir dir_;
  rocks::TestClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
};

const EngineUnderTest kRocks{.name = "rocks",
                             .make = [] { return std::make_unique<RocksUnderTest>(); }};

BERTH_STORE_CONTRACT(Rocks, kRocks);
BERTH_STORE_CONTRACT_DURABLE(Rocks, kRocks);

}  // namespace berth::store::contract
