// The engine on the model of etcd, for tests of failures.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "store/blocking.h"
#include "store/etcd/etcd_engine.h"
#include "store/etcd/revisions.h"
#include "store/etcd/testing/client_testing.h"
#include "store/etcd/testing/fake_etcd.h"
#include "store/testing/contract_fixture.h"

namespace berth::store::etcd::testing {

class EngineRig : public ::testing::Test {
 protected:
  static std::string Key(std::string_view name) { return std::string("/registry/t/").append(name); }

  static Txn PutOf(std::string_view name, std::string_view payload) {
    return {.puts = {{.key = Key(name), .value = contract::MakeValue(payload)}}};
  }

  base::Result<std::unique_ptr<EtcdEngine>> TryOpen() {
    auto client = std::make_unique<FakeClient>(etcd_, network_);
    client_ = client.get();
    return EtcdEngine::OpenOn(std::move(client), options_, contract::TestSlotCodec(), log_.Logger(),
                              log_.Clock());
  }

  void Open() {
    auto opened = TryOpen();
    ASSERT_TRUE(opened) << opened.error().message;
    engine_ = *std::move(opened);
  }

  void Close() {
    engine_.reset();
    client_ = nullptr;
  }

  TxnReply Commit(Txn txn) { return CommitNow(*engine_, std::move(txn)); }

  /// Commits without waiting for the reply.
  Awaited<TxnReply> Begin(Txn txn) {
    Awaited<TxnReply> reply;
    engine_->Commit(std::move(txn), reply.Setter());
    return reply;
  }

  /// Returns the payload of a key, or "" if the key does not exist.
  std::string Get(std::string_view name) {
    const auto entry = GetNow(*engine_, Key(name));
    EXPECT_TRUE(entry) << entry.error().message;
    return entry && *entry ? contract::Payload((*entry)->value) : "";
  }

  std::vector<contract::Item> Items() {
    const auto page = ScanAll(*engine_, "/registry/t/");
    EXPECT_TRUE(page) << page.error().message;
    return page ? contract::ToItems(page->entries) : std::vector<contract::Item>{};
  }

  template <typename Condition>
  static bool Eventually(Condition condition) {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > end) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    return true;
  }

  /// Returns the name of one of the engine's own keys in etcd.
  static std::string OwnKey(std::string_view name) {
    return std::string("/registry/berth.io/").append(name);
  }
  static bool IsEpochPut(const etcdserverpb::TxnRequest& request) {
    return request.compare_size() == 0 && request.success_size() == 1 &&
           request.success(0).request_put().key().starts_with(OwnKey("fence/process/"));
  }
  /// Returns whether the request is a caller's transaction, or a group of them.
  static bool IsCommit(const etcdserverpb::TxnRequest& request) {
    return request.compare_size() >= 2 && request.compare(0).key() == OwnKey("mode");
  }

  /// Writes to etcd directly, as another program would.
  void PutRaw(const std::string& key, const std::string& value) {
    etcdserverpb::TxnRequest request;
    etcdserverpb::PutRequest& put = *request.add_success()->mutable_request_put();
    put.set_key(key);
    put.set_value(value);
    ASSERT_TRUE(etcd_.Txn(request));
  }

  void DeleteRaw(const std::string& begin, const std::string& end = "") {
    etcdserverpb::TxnRequest request;
    etcdserverpb::DeleteRangeRequest& range =
        *request.add_success()->mutable_request_delete_range();
    range.set_key(begin);
    range.set_range_end(end);
    ASSERT_TRUE(etcd_.Txn(request));
  }

  std::vector<etcdserverpb::KeyValue> RawRange(const std::string& prefix) {
    etcdserverpb::RangeRequest request;
    request.set_key(prefix);
    request.set_range_end(PrefixEnd(prefix));
    const auto response = etcd_.Range(request);
    return {response->kvs().begin(), response->kvs().end()};
  }

  LogCapture log_;
  FakeEtcd etcd_;
  Network network_;
  EtcdOptions options_ = {.compact_interval = std::chrono::seconds(0)};
  FakeClient* client_ = nullptr;  // The engine's client.
  std::unique_ptr<EtcdEngine> engine_;
};

}  // namespace berth::store::etcd::testing
