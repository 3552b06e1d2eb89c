// What the engine does when writing fails: failed syncs, a full disk, files that cannot be created.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "store/rocks/testing/rocks_testing.h"

namespace berth::store::rocks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class FailureTest : public RocksTest {
 protected:
  FailureTest() {
    UseFaults();
    // Writes of the housekeeper would hit the faults that are meant for the writes of the tests.
    seams_.housekeeping = std::chrono::hours(1);
  }

  bool IsWritable() { return engine().GetHealth().writable; }
};

TEST_F(FailureTest, AFailedSyncWhoseBytesAreThereCommits) {
  Put("/a", "1");
  const int tables = faults_.tables_synced;
  faults_.log_syncs = 1;
  const TxnReply reply = Write("/a", "2");
  // The bytes are readable, but only a new, synced file makes them durable.
  EXPECT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
  EXPECT_GT(faults_.tables_synced, tables);
  EXPECT_EQ(Get("/a"), "2");
  EXPECT_EQ(Events(0), "/a@1 /a@2");
  EXPECT_TRUE(IsWritable());
  EXPECT_EQ(Put("/a", "3"), 3);
  EXPECT_THAT(lines_.Text(), HasSubstr("told to fail to sync"));
  Close();
  EXPECT_EQ(State(), "/a=3");
}

TEST_F(FailureTest, AFailedSyncWhoseBytesAreLostIsRefused) {
  Put("/a", "1");
  faults_.log_syncs = 1;
  faults_.lose_unsynced = true;
  const TxnReply reply = Write("/a", "2");
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_THAT(reply.error.message, AllOf(HasSubstr("told to fail to sync"),
                                         HasSubstr("nothing of this write was kept")));
  EXPECT_EQ(Get("/a"), "1");
  EXPECT_EQ(Events(0), "/a@1");
  EXPECT_EQ(Put("/a", "3"), 3) << "above every revision ever handed out";
  Close();
  EXPECT_EQ(State(), "/a=3");
  EXPECT_EQ(Events(0), "/a@1 /a@3");
}

TEST_F(FailureTest, EveryOneOfAGroupIsSettled) {
  // Many transactions run at once, some of them conflict, and syncs fail now and then.
  constexpr int kTxns = 400;
  std::vector<Outcome> outcomes(kTxns, Outcome::kUnknown);
  std::atomic<int> settled = 0;
  engine();
  for (int i = 0; i < kTxns; ++i) {
    if (i % 50 == 25) {
      faults_.lose_unsynced = i % 100 == 25;
      faults_.log_syncs = 1;
    }
    Txn txn{.puts = {{.key = Numbered(i), .value = "v"}}};
    if (i % 10 == 0) txn.compares = {{.key = Numbered(i - 1), .revision = {}}};
    engine().Commit(std::move(txn), [&, i](const TxnReply& reply) {
      outcomes[static_cast<size_t>(i)] = reply.outcome;
      ++settled;
    });
    if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ASSERT_TRUE(Eventually([&] { return settled == kTxns; }));
  const auto check = [&] {
    for (int i = 0; i < kTxns; ++i) {
      const Outcome outcome = outcomes[static_cast<size_t>(i)];
      ASSERT_NE(outcome, Outcome::kUnknown);
      ASSERT_EQ(Get(Numbered(i)), outcome == Outcome::kCommitted ? "v" : "-") << i;
    }
  };
  check();
  Close();
  check();
}

TEST_F(FailureTest, WhileItCannotBeOpenedAgainReadsGoOn) {
  Put("/a", "1");
  faults_.no_new_files = true;
  faults_.log_syncs = 1;
  std::atomic<int> outcome = -1;
  engine().Commit({.puts = {{.key = "/a", .value = "2"}}},
                  [&](const TxnReply& reply) { outcome = static_cast<int>(reply.outcome); });
  ASSERT_TRUE(Eventually([this] { return !IsWritable(); }));
  // Other transactions are refused at once. The one that may have happened waits.
  ASSERT_TRUE(Eventually([this] {
    const TxnReply other = Write("/b");
    EXPECT_EQ(other.outcome, Outcome::kRefused);
    return other.error.message.find("told to make no file") != std::string::npos;
  }));
  EXPECT_THAT(engine().GetHealth().why,
              AllOf(HasSubstr(options_.directory), HasSubstr("reads go on")));
  EXPECT_EQ(Get("/a"), "1") << "what is not settled is not seen";
  EXPECT_EQ(State(), "/a=1");
  EXPECT_EQ(Events(0), "/a@1");
  EXPECT_EQ(outcome, -1);

  faults_.no_new_files = false;
  ASSERT_TRUE(Eventually([this] { return IsWritable(); }));
  ASSERT_TRUE(Eventually([&] { return outcome != -1; }));
  EXPECT_EQ(static_cast<Outcome>(outcome.load()), Outcome::kCommitted);
  EXPECT_EQ(Get("/a"), "2");
  EXPECT_EQ(Put("/b"), 3);
}

TEST_F(FailureTest, ClosingWhileItIsNotKnownSaysSo) {
  Put("/a", "1");
  faults_.no_new_files = true;
  faults_.log_syncs = 1;
  TxnReply reply;
  engine().Commit({.puts = {{.key = "/a", .value = "2"}}},
                  [&reply](TxnReply settled) { reply = std::move(settled); });
  ASSERT_TRUE(Eventually([this] { return !IsWritable(); }));
  Close();
  EXPECT_EQ(reply.outcome, Outcome::kUnknown);
  EXPECT_THAT(reply.error.message, HasSubstr("closed before"));
  faults_.no_new_files = false;
  EXPECT_EQ(State(), "/a=2");
}

TEST_F(FailureTest, ADiskWithoutSpaceRefusesUntilThereIsSome) {
  Put("/a", "1");
  faults_.no_space = true;
  std::atomic<int> outcome = -1;
  engine().Commit({.puts = {{.key = "/a", .value = std::string(100'000, '2')}}},
                  [&](const TxnReply& reply) { outcome = static_cast<int>(reply.outcome); });
  ASSERT_TRUE(Eventually([this] { return !IsWritable(); }));
  ASSERT_TRUE(Eventually(
      [this] { return engine().GetHealth().why.find("no space left") != std::string::npos; }));
  EXPECT_EQ(Write("/b").outcome, Outcome::kRefused);
  EXPECT_EQ(Get("/a"), "1");
  faults_.no_space = false;
  ASSERT_TRUE(Eventually([this] { return IsWritable(); }));
  ASSERT_TRUE(Eventually([&] { return outcome != -1; }));
  EXPECT_EQ(static_cast<Outcome>(outcome.load()), Outcome::kRefused) << "half of it was written";
  EXPECT_EQ(Get("/a"), "1");
  EXPECT_GT(Put("/b"), 1) << "2 if it was refused before it was tried, else 3";
  Close();
  EXPECT_EQ(State(), "/a=1 /b=v");
}

TEST_F(FailureTest, AFailedFlushIsNoticedAndMended) {
  options_.write_buffer_bytes = 64 << 10;
  const std::string large(50'000, 'x');
  Put("/a", large);
  faults_.tables_fail = true;
  // This fills several write buffers. Nothing waits for these writes, because the one that fails is
  // not settled before tables can be written again.
  ASSERT_TRUE(Eventually([&] {
    engine().Commit({.puts = {{.key = "/a", .value = large}}}, [](const TxnReply&) {});
    return !IsWritable();
  }));
  EXPECT_THAT(engine().GetHealth().why, HasSubstr("told to fail"));
  EXPECT_EQ(Get("/a").size(), 50'000U);
  faults_.tables_fail = false;
  ASSERT_TRUE(Eventually([this] { return IsWritable(); }));
  ASSERT_TRUE(Eventually([this] { return Write("/b").outcome == Outcome::kCommitted; }));
  Close();
  EXPECT_EQ(Get("/b"), "v");
}

TEST_F(FailureTest, BelowTheReserveWritesAreRefusedAndReadsGoOn) {
  std::atomic<uint64_t> free = uint64_t{1} << 40;
  seams_.free_bytes = [&free](const std::string&) -> base::Result<uint64_t> { return free.load(); };
  Put("/a", "1");
  free = uint64_t{12} << 20;
  TxnReply reply;
  ASSERT_TRUE(Eventually([&] {
    reply = Write("/b");
    return reply.outcome == Outcome::kRefused;
  }));
  EXPECT_EQ(reply.error.reason, base::Reason::kServiceUnavailable);
  EXPECT_THAT(reply.error.message,
              AllOf(HasSubstr("12.0 MiB"), HasSubstr("64.0 MiB"), HasSubstr(options_.directory)));
  EXPECT_FALSE(IsWritable());
  EXPECT_EQ(engine().GetHealth().why, reply.error.message);
  EXPECT_EQ(Get("/a"), "1");
  free = uint64_t{65} << 20;
  ASSERT_TRUE(Eventually([this] { return IsWritable(); }));
  ASSERT_TRUE(Eventually([this] { return Write("/b").outcome == Outcome::kCommitted; }));
}

TEST_F(FailureTest, AFullDiskAtTheStartIsNamed) {
  faults_.no_space = true;
  EXPECT_THAT(OpenError().message,
              AllOf(HasSubstr("no space left"), HasSubstr(options_.directory)));
}

TEST_F(FailureTest, ReadersAreSafeWhileItIsOpenedAgain) {
  Put("/a", "1");
  std::atomic<bool> stop = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stop) {
        EXPECT_EQ(Get("/a").substr(0, 1), "1");
        EXPECT_EQ(State().substr(0, 4), "/a=1");
        EXPECT_EQ(Events(0).substr(0, 4), "/a@1");
      }
    });
  }
  for (int i = 0; i < 5; ++i) {
    faults_.log_syncs = 1;
    EXPECT_EQ(Write("/b" + std::to_string(i)).outcome, Outcome::kCommitted);
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace berth::store::rocks
