// The contract suite on a real etcd with one member. The whole program shares the etcd, and each
// test has its own prefix.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "store/etcd/testing/shared_etcd.h"
#include "store/testing/contract_durable_suite.h"
#include "store/testing/contract_suite.h"

namespace berth::store::contract {
namespace {

using etcd::EtcdOptions;
using etcd::testing::SharedEtcd;

class EtcdUnderTest final : public StoreUnderTest {
 public:
  explicit EtcdUnderTest(EtcdOptions options) : options_(std::move(options)) {
    options_.prefix = SharedEtcd::FreshPrefix();
    // The compaction key would be written at a moment that no test can predict.
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

/// Starts revisions far above etcd's own, like those of a store that was moved here.
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
