// etcd's database reaches its quota while writers run. Writes are refused with a helpful message,
// reads continue, and nothing is half done. When there is space again, writes continue as well.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "chaos/scenario.h"
#include "linear/watcher.h"
#include "store/blocking.h"
#include "store/etcd/testing/http.h"
#include "store/testing/contract_fixture.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;
using store::Outcome;
using store::contract::MakeValue;
using store::contract::Payload;
using testing::HasSubstr;

constexpr std::string_view kPrefix = "/registry/chaos/full/";
constexpr int kWriters = 6;

class NoSpaceTest : public testing::Test {
 protected:
  void SetUp() override {
    auto arena = Arena::Make({.flags = {"--quota-backend-bytes=4000000"}});
    ASSERT_TRUE(arena) << arena.error().message;
    arena_ = std::move(*arena);
  }

  /// Writes two keys at once, so that half of the write could be missing.
  store::TxnReply Write(int writer, const std::string& text) {
    store::Txn txn;
    for (const char* half : {"a", "b"}) {
      txn.puts.push_back({.key = fmt::format("{}{}{}", kPrefix, writer, half), .value = text});
    }
    const size_t operation = recorder_.Call(static_cast<size_t>(writer), txn);
    for (store::Put& put : txn.puts) put.value = MakeValue(put.value);
    const store::TxnReply reply = store::CommitNow(arena_->At(writer % Arena::kReplicas), txn);
    recorder_.Return(operation, reply);
    return reply;
  }

  /// Writes until it has been refused three times.
  void FillUp(int writer) {
    const std::string filler(30'000, 'x');
    int refused = 0;
    for (int i = 0; refused < 3 && i < 1000; ++i) {
      const store::TxnReply reply = Write(writer, fmt::format("{}.{}.{}", writer, i, filler));
      if (reply.outcome == Outcome::kCommitted) continue;
      EXPECT_EQ(reply.outcome, Outcome::kRefused) << reply.error.message;
      EXPECT_THAT(reply.error.message, HasSubstr("space"));
      ++refused;
    }
    EXPECT_EQ(refused, 3) << "the quota was never reached";
  }

  /// Does what the message says: compact, defragment, disarm the alarm. etcd compacts with a delay,
  /// so the first attempts may find nothing to free, and the alarm returns.
  bool MakeSpace() {
    for (int i = 0; i < Arena::kMembers; ++i) {
      constexpr std::string_view kScheme = "http://";
      const std::string endpoint = arena_->Cluster().Endpoint(i).substr(kScheme.size());
      const size_t colon = endpoint.rfind(':');
      const auto answer = store::etcd::testing::HttpFetch(
          endpoint.substr(0, colon), std::stoi(endpoint.substr(colon + 1)),
          "/v3/maintenance/defragment", "{}", {}, 20s);
      if (!answer || answer->code != 200) return false;
    }
    const auto alarms = arena_->Cluster().Post("/v3/maintenance/alarm", R"({"action":0})");
    if (!alarms) return false;
    constexpr std::string_view kMember = R"("memberID":")";
    for (size_t at = 0; (at = alarms->find(kMember, at)) != std::string::npos;) {
      at += kMember.size();
      const std::string disarm = fmt::format(R"({{"action":2,"memberID":"{}","alarm":1}})",
                                             alarms->substr(at, alarms->find('"', at) - at));
      if (!arena_->Cluster().Post("/v3/maintenance/alarm", disarm)) return false;
    }
    return true;
  }

  bool WriteAgain(int writer) {
    return Write(writer, fmt::format("{}.again.{}", writer, ++again_)).outcome ==
           Outcome::kCommitted;
  }

  int again_ = 0;
  linear::Recorder recorder_;
  std::unique_ptr<Arena> arena_;
};

TEST_F(NoSpaceTest, WritesAreRefusedUntilThereIsSpaceAgain) {
  const auto start = store::CurrentNow(arena_->At(0));
  ASSERT_TRUE(start) << start.error().message;
  linear::Watcher watcher(arena_->At(1), std::string(kPrefix), "1", *start, Payload, 1);
  std::vector<std::thread> writers;
  for (int i = 0; i < kWriters; ++i) writers.emplace_back([this, i] { FillUp(i); });
  for (std::thread& writer : writers) writer.join();

  for (int i = 0; i < Arena::kReplicas; ++i) {
    EXPECT_FALSE(arena_->At(i).GetHealth().writable);
    EXPECT_THAT(arena_->At(i).GetHealth().why, HasSubstr("space"));
    EXPECT_TRUE(store::ScanAll(arena_->At(i), std::string(kPrefix)));
    EXPECT_TRUE(store::GetNow(arena_->At(i), std::string(kPrefix) + "0a"));
  }

  const auto full_at = store::CurrentNow(arena_->At(0));
  ASSERT_TRUE(full_at) << full_at.error().message;
  const auto compacted = store::CompactNow(arena_->At(0), *full_at);
  ASSERT_TRUE(compacted) << compacted.error().message;
  EXPECT_TRUE(Within(60s, [&] { return MakeSpace() && WriteAgain(0); })) << arena_->Logs();
  for (int i = 0; i < kWriters; ++i) {
    // An alarm that another member raised before may arrive afterwards.
    EXPECT_TRUE(Within(60s, [&] { return WriteAgain(i) || (MakeSpace() && WriteAgain(i)); }))
        << "writer " << i << arena_->Logs();
  }
  for (int i = 0; i < Arena::kReplicas; ++i) {
    EXPECT_TRUE(Within(30s, [&] { return arena_->At(i).GetHealth().writable; }))
        << arena_->At(i).GetHealth().why;
  }

  linear::Recording recording{.history = recorder_.Take()};
  const auto current = store::CurrentNow(arena_->At(0));
  ASSERT_TRUE(current);
  recording.watches.push_back(watcher.Finish(*current, std::chrono::steady_clock::now() + 60s));
  linear::Counts counts;
  EXPECT_EQ(linear::CheckAll(recording, &counts), "") << arena_->Logs();
  const auto raw = ReadEtcd(*arena_, std::string(kPrefix));
  ASSERT_TRUE(raw) << raw.error().message;
  EXPECT_EQ(CompareStates("etcd", *raw, Replay(recording.watches.front())), "");
  fmt::print("database full: {}; {} events watched\n", linear::Describe(counts),
             recording.watches.front().events.size());
  EXPECT_GT(counts.committed, 20U);
}

}  // namespace
}  // namespace berth::chaos
