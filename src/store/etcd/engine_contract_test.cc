// The contract suite on a real etcd of one member: one for the whole program, a prefix of its own
// for each test.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "store/contract_durable_suite.h"
#include "store/contract_suite.h"
#include "store/etcd/testing/shared_etcd.h"

namespace berth::store::contract {
namespace {

using etcd::EtcdOptions;
using etcd::testing::SharedEtcd;

class EtcdUnderTest final : public StoreUnderTest {
 public:
  explicit EtcdUnderTest(EtcdOptions options) : options_(std::move(options)) {
    options_.prefix = SharedEtcd::FreshPrefix();
    // Its key would be written at a moment that no test can know.
    options_.compact_interval = std::chrono::seconds(0);
  }

  std::unique_ptr<Engine> Open(const Sizes& sizes) override {
    EtcdOptions options = options_;
    options.ring_bytes = sizes.ring_bytes;
    auto engine = SharedEtcd::Open(options);
    if (!engine) {
      ADD_FAILURE() << engine.error().message;
      return nullptr;
    }
    return *std::move(engine);
  }

 private:
  EtcdOptions options_;
};

EngineUnderTest Grouped() {
  return {.name = "grouped", .make = [] { return std::make_unique<EtcdUnderTest>(EtcdOptions{}); }};
}

/// Far above what etcd counts, as of a store that was moved here.
EngineUnderTest UngroupedAboveABase() {
  return {.name = "ungrouped", .make = [] {
            return std::make_unique<EtcdUnderTest>(
                EtcdOptions{.base = {int64_t{1} << 50}, .group = false});
          }};
}

BERTH_STORE_CONTRACT(Etcd, Grouped());
BERTH_STORE_CONTRACT_DURABLE(Etcd, Grouped(), UngroupedAboveABase());
BERTH_STORE_CONTRACT_PART(EtcdUngrouped, ContractTxn, UngroupedAboveABase());
BERTH_STORE_CONTRACT_PART(EtcdUngrouped, ContractGroup, UngroupedAboveABase());

}  // namespace
}  // namespace berth::store::contract
