// One real etcd for all tests of a program, and engines on it.
#pragma once

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

#include "base/result.h"
#include "store/etcd/etcd_engine.h"
#include "store/etcd/testing/client_testing.h"
#include "store/etcd/testing/etcd_server.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::etcd::testing {

class SharedEtcd {
 public:
  /// Starts the etcd on the first call; it ends with the program.
  static EtcdCluster& Cluster() {
    static const std::unique_ptr<EtcdCluster> cluster = [] {
      auto started = EtcdCluster::Start({});
      if (!started) throw std::runtime_error(started.error().message);
      return *std::move(started);
    }();
    return *cluster;
  }

  /// Returns a prefix that has not been used yet.
  static std::string FreshPrefix() {
    static std::atomic<int> next = 0;
    return "/test" + std::to_string(next++);
  }

  static LogCapture& Log() {
    static LogCapture log;
    return log;
  }

  /// Opens an engine whose values are those of the contract suite.
  static base::Result<std::unique_ptr<EtcdEngine>> Open(const EtcdOptions& options) {
    return EtcdEngine::Open(Cluster().Client(), options, contract::TestSlotCodec(), Log().Logger(),
                            Log().Clock());
  }
};

}  // namespace berth::store::etcd::testing
