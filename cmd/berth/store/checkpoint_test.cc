// Takes a snapshot of the embedded engine during writes, restores it elsewhere and compares.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "berth/store/open.h"
#include "store/blocking.h"
#include "store/copy.h"
#include "store/keys.h"
#include "store/rocks/rocks_engine.h"
#include "store/snapshot_file.h"

namespace berth::cli {
namespace {

using store::Outcome;
using store::Revision;
using store::Txn;
using store::rocks::RocksEngine;

constexpr int kWriters = 4;
constexpr int kPairs = 1500;  // More than one page.

class CheckpointTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directory(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<RocksEngine> Open(std::string_view name, Revision base = {}) {
    auto engine = RocksEngine::Open({.directory = Path(name), .base = base}, log_, clock_);
    EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
    return *std::move(engine);
  }

  std::string Path(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }

  const std::string folder_ = ::testing::TempDir() + fmt::format("checkpoint_test_{}", getpid());
  base::SystemClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
};

/// Two keys that always change together. They are equal in the state at any revision.
Txn Pair(int number, uint64_t value) {
  Txn txn;
  for (const std::string_view kind : {"services/specs/a", "ipaddresses"}) {
    txn.puts.push_back({.key = fmt::format("/registry/{}/{:04}", kind, number),
                        .value = fmt::format("{:x}", value)});
  }
  return txn;
}

/// Writes pairs until it is stopped.
class Writers {
 public:
  explicit Writers(store::Engine& engine) {
    const uint64_t seed = base::TestSeed(20'261'115);
    for (int i = 0; i < kWriters; ++i) {
      threads_.emplace_back(
          [this, &engine, random = base::SeededRandom(seed + uint64_t(i))]() mutable {
            while (!stop_) {
              const int number = static_cast<int>(base::Uniform(random, kPairs));
              const auto reply = CommitNow(engine, Pair(number, random.Next()));
              if (reply.outcome == Outcome::kCommitted) ++written_;
            }
          });
    }
  }
  ~Writers() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

  int64_t Written() const { return written_; }

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<int64_t> written_ = 0;
  std::vector<std::thread> threads_;
};

TEST_F(CheckpointTest, TakenUnderLoadItIsOneState) {
  const auto engine = Open("data");
  for (int i = 0; i < kPairs; ++i) {
    ASSERT_EQ(CommitNow(*engine, Pair(i, 0)).outcome, Outcome::kCommitted);
  }
  for (int round = 0; round < 3; ++round) {
    const std::string file = Path(fmt::format("{}.snap", round));
    base::Result<store::SnapshotFileInfo> info;
    {
      const Writers writers(*engine);
      // The first page is read now. The others are read after many changes.
      int64_t after = 0;
      const auto wait = [&](uint64_t, uint64_t) {
        after = writers.Written() + 200;
        while (writers.Written() < after) std::this_thread::yield();
      };
      wait(0, 0);
      info =
          SaveSnapshotFile(*engine, file, {.normalise = WithoutSlots(), .progress = wait}, clock_);
    }
    ASSERT_TRUE(info.has_value()) << info.error().message;
    EXPECT_LT(info->revision, *CurrentNow(*engine));

    const auto restored = Open(fmt::format("restored-{}", round), {int64_t{1} << 48});
    const auto copied = CopyInto(*restored, store::EntriesOfSnapshot(file), {});
    ASSERT_TRUE(copied.has_value()) << copied.error().message;
    EXPECT_EQ(copied->target.Checksum(), info->checksum);
    const auto then = ScanAll(*engine, std::string(store::kPrefix), info->revision);
    const auto now = ScanAll(*restored, std::string(store::kPrefix));
    ASSERT_EQ(now->entries.size(), size_t{2} * kPairs);
    for (size_t i = 0; i < now->entries.size(); ++i) {
      EXPECT_EQ(now->entries[i].key, then->entries[i].key);
      EXPECT_EQ(now->entries[i].value, then->entries[i].value);
    }
    for (size_t i = 0; i < kPairs; ++i) {
      EXPECT_EQ(now->entries[i].value, now->entries[i + kPairs].value) << "a transaction is torn";
    }
  }
}

}  // namespace
}  // namespace berth::cli
