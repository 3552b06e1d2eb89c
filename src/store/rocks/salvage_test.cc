#include "store/rocks/salvage.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "store/blocking.h"
#include "store/rocks/rocks_engine.h"
#include "store/rocks/testing/rocks_testing.h"

namespace berth::store::rocks {
namespace {

using namespace std::chrono_literals;
using base::Reason;

class SalvageTest : public ::testing::Test {
 protected:
  std::unique_ptr<RocksEngine> Open(size_t write_buffer_bytes = size_t{16} << 20) {
    auto engine = RocksEngine::Open(
        {.directory = directory_, .write_buffer_bytes = write_buffer_bytes}, log_, clock_);
    EXPECT_TRUE(engine.has_value()) << (engine ? "" : engine.error().message);
    return engine ? *std::move(engine) : nullptr;
  }

  /// Puts one key that stays and one that expires, in one transaction.
  void PutPair(Engine& engine, int number, size_t value_bytes = 100) {
    Txn txn;
    txn.puts.push_back(
        {.key = fmt::format("/a/{:05}", number), .value = std::string(value_bytes, 'a')});
    txn.puts.push_back({.key = fmt::format("/b/{:05}", number), .value = "b", .ttl = 1h});
    ASSERT_EQ(CommitNow(engine, std::move(txn)).outcome, Outcome::kCommitted);
  }

  /// Flips a byte of the oldest log, at a tenth of its size.
  void Damage() {
    std::filesystem::path oldest;
    for (const auto& file : std::filesystem::directory_iterator(directory_)) {
      const bool log = file.path().extension() == ".log";
      if (log && (oldest.empty() || file.path() < oldest)) oldest = file.path();
    }
    ASSERT_FALSE(oldest.empty());
    const auto at = static_cast<std::streamoff>(std::filesystem::file_size(oldest) / 10);
    std::fstream file(oldest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const int byte = file.get();
    file.seekp(at);
    file.put(static_cast<char>(byte ^ 1));
  }

  size_t Count(Engine& engine, const std::string& prefix) {
    return ScanAll(engine, prefix)->entries.size();
  }

  TempDir temp_;
  const std::string directory_ = temp_.Path() + "/data";
  TestClock clock_;
  LogLines lines_;
  base::Logger log_{{.sink = lines_.Sink()}, clock_};
};

TEST_F(SalvageTest, KeepsWhatLiesBeforeTheDamage) {
  auto engine = Open();
  for (int i = 0; i < 100; ++i) PutPair(*engine, i);
  const Revision seen = *CurrentNow(*engine);
  engine.reset();
  Damage();
  EXPECT_FALSE(RocksEngine::Open({.directory = directory_}, log_, clock_).has_value());

  const auto damage = InspectDamage(directory_, clock_);
  ASSERT_TRUE(damage.has_value()) << damage.error().message;
  ASSERT_TRUE(damage->bad.has_value());
  EXPECT_FALSE(damage->bad->tail);
  const auto salvaged = Salvage(directory_, log_, clock_);
  ASSERT_TRUE(salvaged.has_value()) << salvaged.error().message;
  EXPECT_TRUE(std::filesystem::exists(*salvaged->copy));
  EXPECT_LT(salvaged->last, seen);

  engine = Open();
  ASSERT_NE(engine, nullptr);
  const size_t kept = Count(*engine, "/a/");
  EXPECT_GT(kept, 0u);
  EXPECT_LT(kept, 50u);
  EXPECT_EQ(Count(*engine, "/b/"), kept) << "transactions are there whole or not at all";
  EXPECT_EQ(salvaged->last.value, static_cast<int64_t>(2 * kept));

  // No revision that was seen is used again.
  EXPECT_GT(*CurrentNow(*engine), seen);
  PutPair(*engine, 100);
  EXPECT_GT(GetNow(*engine, "/a/00100").value()->revision, Revision{seen.value + (1 << 20)});
  WatchReader watch(*engine, {.prefix = "/", .after = seen});
  const auto events = watch.Next(1, std::chrono::steady_clock::now() + 60s);
  ASSERT_FALSE(events.has_value());
  EXPECT_EQ(events.error().reason, Reason::kExpired);
}

TEST_F(SalvageTest, WorksWhereTablesReachBeyondTheCut) {
  // RocksDB writes a family to a table once it has grown enough: the values soon, the others later.
  constexpr size_t kBuffer = 64 << 10;
  auto engine = Open(kBuffer);
  for (int i = 0; i < 400; ++i) PutPair(*engine, i, 1000);
  for (int i = 0; i < 400; i += 2) PutPair(*engine, i, 1000);
  engine.reset();
  Damage();
  const auto salvaged = Salvage(directory_, log_, clock_);
  ASSERT_TRUE(salvaged.has_value()) << salvaged.error().message;

  engine = Open(kBuffer);
  ASSERT_NE(engine, nullptr);
  const size_t kept = Count(*engine, "/a/");
  EXPECT_GT(kept, 0u);
  EXPECT_EQ(Count(*engine, "/b/"), kept);
  Revision newest;
  const auto all = ScanAll(*engine, "/");
  ASSERT_TRUE(all.has_value());
  for (const Entry& entry : all->entries) {
    newest = std::max(newest, entry.revision);
  }
  // The revision log may reach further than the values do, or less far.
  EXPECT_GE(salvaged->last, newest);
  // The deadlines that were lost with the log are there again.
  clock_.Advance(2h);
  EXPECT_TRUE(Eventually([&] { return Count(*engine, "/b/") == 0; }));
  EXPECT_EQ(Count(*engine, "/a/"), kept);
  // Housekeeping does no harm: after it has given up history, the values are still there.
  ASSERT_TRUE(CompactNow(*engine, *CurrentNow(*engine)).has_value());
  engine.reset();
  engine = Open(kBuffer);
  const auto page = ScanAll(*engine, "/a/");
  EXPECT_EQ(page->entries.size(), kept);
  for (const Entry& entry : page->entries) EXPECT_EQ(entry.value.size(), 1000u);
}

TEST_F(SalvageTest, IsTakenUpWhereItWasInterrupted) {
  auto engine = Open();
  PutPair(*engine, 1);
  const Revision seen = *CurrentNow(*engine);
  engine.reset();
  EXPECT_FALSE(InspectDamage(directory_, clock_)->interrupted);
  std::ofstream(directory_ + "/salvaging") << "";
  EXPECT_TRUE(InspectDamage(directory_, clock_)->interrupted);
  const auto salvaged = Salvage(directory_, log_, clock_);
  ASSERT_TRUE(salvaged.has_value()) << salvaged.error().message;
  EXPECT_FALSE(salvaged->copy.has_value());
  EXPECT_EQ(salvaged->last, seen);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/salvaging"));
  engine = Open();
  ASSERT_NE(engine, nullptr);
  EXPECT_EQ(Count(*engine, "/a/"), 1u);
  EXPECT_EQ(*CurrentNow(*engine), salvaged->raised);
}

TEST_F(SalvageTest, NeedsAStoreThatNobodyUses) {
  const auto missing = InspectDamage(directory_, clock_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().reason, Reason::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(directory_));
  const auto engine = Open();
  const auto held = Salvage(directory_, log_, clock_);
  ASSERT_FALSE(held.has_value());
  EXPECT_EQ(held.error().reason, Reason::kConflict);
}

}  // namespace
}  // namespace berth::store::rocks
