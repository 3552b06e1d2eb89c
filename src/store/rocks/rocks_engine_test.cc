#include "store/rocks/rocks_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/testing/base_kit.h"
#include "store/rocks/rocks_layout.h"
#include "store/rocks/testing/rocks_testing.h"

namespace berth::store::rocks {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;

class RocksEngineTest : public RocksTest {
 protected:
  using Rows = std::vector<std::pair<std::string, std::string>>;

  /// Closes the engine and returns the rows of a family.
  Rows ReadRows(std::string_view family) {
    Close();
    rocksdb::DB* db = nullptr;
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
        {"default", {}}, {"data", {}}, {"log", {}}, {"expiry", {}}};
    EXPECT_TRUE(rocksdb::DB::OpenForReadOnly({}, options_.directory, families, &handles, &db).ok());
    Rows rows;
    for (rocksdb::ColumnFamilyHandle* handle : handles) {
      if (handle->GetName() == family) {
        const std::unique_ptr<rocksdb::Iterator> row(db->NewIterator({}, handle));
        for (row->SeekToFirst(); row->Valid(); row->Next()) {
          rows.emplace_back(row->key().ToString(), row->value().ToString());
        }
      }
      db->DestroyColumnFamilyHandle(handle);
    }
    delete db;
    return rows;
  }
};

// History.

TEST_F(RocksEngineTest, AWatchFromBeforeARestartGoesOn) {
  Put("/a");
  const auto before = CurrentNow(engine());
  Put("/b");
  Put("/a", "2");
  std::ignore = CommitNow(engine(), {.deletes = {"/b"}});
  Close();
  Put("/c");
  EXPECT_EQ(Events(before->value), "/b@2 /a@3 -/b@4 /c@5");
}

TEST_F(RocksEngineTest, HistoryEndsAfterItsAge) {
  Put("/a", "1");
  Put("/a", "2");
  const base::WallTime start = clock_.Now();
  bool later = false;
  ASSERT_TRUE(Eventually([&] {
    clock_.Advance(seconds(5));
    if (!later && clock_.Now() > start + minutes(9)) later = Put("/b", "x") == 3;
    const bool expired = IsExpired(1);
    EXPECT_FALSE(expired && clock_.Now() < start + minutes(10));
    return expired;
  }));
  EXPECT_THAT(Events(1), HasSubstr("too old"));
  // The present state and younger history stay.
  EXPECT_EQ(Get("/a"), "2");
  if (clock_.Now() < start + minutes(19)) {
    EXPECT_EQ(State(2), "/a=2");
    EXPECT_EQ(Events(2), "/b@3");
  }
  // History is also given up by age if there are no more writes.
  EXPECT_TRUE(Eventually([&] {
    clock_.Advance(seconds(20));
    return engine().Compacted().value == 3;
  }));
  EXPECT_EQ(State(), "/a=2 /b=x");
}

TEST_F(RocksEngineTest, TheAgeOfHistorySurvivesARestart) {
  Put("/a", "1");
  Put("/a", "2");
  int64_t noted = 0;
  ASSERT_TRUE(Eventually([&] {
    clock_.Advance(seconds(11));
    std::this_thread::sleep_for(5 * seams_.housekeeping);
    for (const auto& [key, value] : ReadRows("default")) {
      const auto sample = DecodeSample(key, value);
      if (sample && sample->revision.value >= 2) noted = sample->time;
    }
    engine();
    return noted != 0;
  }));
  Close();
  clock_.Advance(minutes(9));
  Open();
  EXPECT_FALSE(IsExpired(1));
  Close();
  clock_.Advance(base::WallTime(std::chrono::milliseconds(noted)) + minutes(10) - clock_.Now());
  EXPECT_TRUE(Eventually([this] { return IsExpired(1); }));
  EXPECT_EQ(Get("/a"), "2");
}

TEST_F(RocksEngineTest, HistoryEndsAtItsSize) {
  options_.history_bytes = 200'000;
  options_.ring_bytes = 10'000;
  Put("/kept", std::string(500'000, 'k'));
  EXPECT_FALSE(IsExpired(1)) << "a value that is there is not history";
  for (int i = 0; i < 100; ++i) Put("/a", std::string(10'000, 'x'));
  ASSERT_TRUE(Eventually([this] { return IsExpired(60); }));
  EXPECT_FALSE(IsExpired(95));
  EXPECT_THAT(Events(98), "/a@99 /a@100 /a@101");
  EXPECT_EQ(Get("/kept").size(), 500'000U);
}

TEST_F(RocksEngineTest, WhenNobodyWritesWriteBuffersAreFilesAndWatchesGoOn) {
  const auto watch = engine().Follow({}, [] {});
  for (int i = 0; i < 30; ++i) Put(Numbered(i), std::string(100'000, 'x'));
  const auto files = [this] {
    size_t tables = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(options_.directory)) {
      if (entry.path().extension() == ".sst") ++tables;
    }
    return tables;
  };
  EXPECT_TRUE(Eventually([&] { return files() > 0; })) << "three megabytes are worth a file";
  std::vector<int64_t> seen;
  while (seen.size() < 30) {
    const auto batch = watch->Poll(7);
    ASSERT_TRUE(batch && !batch->events.empty());
    for (const EventPtr& event : batch->events) seen.push_back(event->revision.value);
  }
  EXPECT_EQ(seen.back(), CurrentNow(engine())->value);
  EXPECT_EQ(Get(Numbered(3)).size(), 100'000U);
}

TEST_F(RocksEngineTest, WhatIsGivenUpIsDeleted) {
  for (int i = 0; i < 300; ++i) Put(Numbered(i % 10), std::to_string(i));
  for (int i = 0; i < 5; ++i) std::ignore = CommitNow(engine(), {.deletes = {Numbered(i)}});
  const std::string state = State();
  ASSERT_TRUE(CompactNow(engine(), *CurrentNow(engine())).has_value());
  EXPECT_TRUE(Eventually([this] {
    engine();
    std::this_thread::sleep_for(5 * seams_.housekeeping);
    return ReadRows("data").size() == 5 && ReadRows("log").empty();
  })) << "one version of each key that is there";
  EXPECT_EQ(State(), state);
  EXPECT_EQ(Put("/0"), 306);
}

TEST_F(RocksEngineTest, ReadersOfThePastNeverSeeHalfOfIt) {
  // A reader at a revision gets that whole state or kExpired, while keys are overwritten and
  // history is given up.
  constexpr int kKeys = 20;
  for (int i = 0; i < kKeys; ++i) Put(Numbered(i), "0");
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    for (int round = 1; !stop; ++round) {
      Txn txn;
      for (int i = 0; i < kKeys; ++i) {
        txn.puts.push_back({.key = Numbered(i), .value = std::to_string(round)});
      }
      const TxnReply reply = CommitNow(engine(), std::move(txn));
      EXPECT_EQ(reply.outcome, Outcome::kCommitted);
      if (round % 3 == 0) std::ignore = CompactNow(engine(), reply.puts.at(0));
    }
  });
  int whole = 0;
  for (int i = 0; i < base::LongCount(3000) || whole < 10; ++i) {
    const Revision at = *CurrentNow(engine());
    std::string after;
    std::vector<Entry> entries;
    while (true) {
      auto page = ScanPageNow(engine(), {.prefix = "/", .after = after, .at = at, .limit = 7});
      if (!page) {
        EXPECT_EQ(page.error().reason, base::Reason::kExpired) << page.error().message;
        entries.clear();
        break;
      }
      for (Entry& entry : page->entries) entries.push_back(std::move(entry));
      if (!page->more) break;
      after = entries.back().key;
    }
    if (entries.empty()) continue;
    ++whole;
    ASSERT_EQ(entries.size(), static_cast<size_t>(kKeys));
    for (const Entry& entry : entries) ASSERT_EQ(entry.value, entries[0].value);
    ASSERT_NE(Get("/0"), "-");
  }
  stop = true;
  writer.join();
}

// Expiry.

TEST_F(RocksEngineTest, WhatExpiresWhileNobodyLooksIsGoneSoonAfterTheStart) {
  Put("/brief", "x", seconds(30));
  Put("/long", "x", minutes(30));
  Close();
  clock_.Advance(minutes(5));
  Open();
  EXPECT_TRUE(Eventually([this] { return Get("/brief") == "-"; }));
  EXPECT_EQ(Events(2), "-/brief@3");
  EXPECT_EQ(Get("/long"), "x");
}

TEST_F(RocksEngineTest, ManyExpireAtOnce) {
  Txn txn;
  for (int i = 0; i < 2000; ++i) {
    txn.puts.push_back({.key = Numbered(i), .value = "v", .ttl = seconds(10)});
  }
  ASSERT_EQ(CommitNow(engine(), txn).outcome, Outcome::kCommitted);
  Put("/stays");
  clock_.Advance(seconds(10));
  EXPECT_TRUE(Eventually([this] { return engine().KeyCount() == 1; }));
  EXPECT_EQ(State(), "/stays=v");
}

// Opening.

TEST_F(RocksEngineTest, RevisionsBeginAboveTheBase) {
  options_.base = {1000};
  EXPECT_EQ(Put("/a"), 1001);
  Close();
  options_.base = {5000};  // Ignored, because the store exists.
  EXPECT_EQ(Put("/a"), 1002);
  EXPECT_TRUE(IsExpired(999));
  EXPECT_EQ(State(1000), "");
  EXPECT_EQ(Events(1000), "/a@1001 /a@1002");
  EXPECT_THAT(Events(999), HasSubstr("too old"));
}

TEST_F(RocksEngineTest, RevisionsNeverGoBackThoughHistoryIsGone) {
  Put("/a");
  std::ignore = CommitNow(engine(), {.deletes = {"/a"}});
  ASSERT_TRUE(CompactNow(engine(), {2}).has_value());
  Close();
  Open();
  Close();
  EXPECT_EQ(Put("/b"), 3);
}

TEST_F(RocksEngineTest, ASecondOneIsToldWhoHasIt) {
  Put("/a");
  const auto second = RocksEngine::Open(options_, log_, clock_);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().reason, base::Reason::kConflict);
  EXPECT_THAT(second.error().message,
              AllOf(HasSubstr(options_.directory), HasSubstr("pid " + std::to_string(getpid()))));
  EXPECT_EQ(Get("/a"), "v");
}

TEST_F(RocksEngineTest, AStoreThatIsNotThereIsNotMadeUnlessAskedFor) {
  options_.create = false;
  EXPECT_EQ(OpenError().reason, base::Reason::kNotFound);
  options_.read_only = true;
  options_.create = true;
  EXPECT_EQ(OpenError().reason, base::Reason::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(options_.directory));
}

TEST_F(RocksEngineTest, TheParentMustBeThere) {
  options_.directory = dir_.Path() + "/no/store";
  EXPECT_THAT(OpenError().message, HasSubstr(dir_.Path() + "/no"));
}

TEST_F(RocksEngineTest, WhatIsNotAStoreIsLeftAlone) {
  std::filesystem::create_directory(options_.directory);
  std::ofstream(options_.directory + "/diary.txt") << "dear diary";
  EXPECT_THAT(OpenError().message, AllOf(HasSubstr("not a store"), HasSubstr("diary.txt")));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(options_.directory), {}), 1);

  options_.directory = dir_.Path() + "/other";
  rocksdb::DB* db = nullptr;
  rocksdb::Options create;
  create.create_if_missing = true;
  ASSERT_TRUE(rocksdb::DB::Open(create, options_.directory, &db).ok());
  ASSERT_TRUE(db->Put({}, "foreign", "value").ok());
  delete db;
  EXPECT_THAT(OpenError().message, HasSubstr("not a store of Berth"));
}

TEST_F(RocksEngineTest, AStoreThatWasHalfMadeIsMade) {
  // This is the state after a crash right after RocksDB created its files.
  rocksdb::DB* db = nullptr;
  rocksdb::Options create;
  create.create_if_missing = true;
  ASSERT_TRUE(rocksdb::DB::Open(create, options_.directory, &db).ok());
  delete db;
  options_.base = {7};
  EXPECT_EQ(Put("/a"), 8);
}

TEST_F(RocksEngineTest, AnotherFormatIsRefused) {
  Put("/a");
  Close();
  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const std::vector<rocksdb::ColumnFamilyDescriptor> families = {
      {"default", {}}, {"data", {}}, {"log", {}}, {"expiry", {}}};
  ASSERT_TRUE(rocksdb::DB::Open({}, options_.directory, families, &handles, &db).ok());
  ASSERT_TRUE(db->Put({}, "format", "2").ok());
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
  EXPECT_THAT(OpenError().message, AllOf(HasSubstr("format \"2\""), HasSubstr("version of Berth")));
}

TEST_F(RocksEngineTest, ReadingAloneChangesNothing) {
  Put("/a", "1");
  Put("/b", "2", seconds(5));
  Close();
  const auto files = [this] {
    std::vector<std::string> names;
    for (const auto& file : std::filesystem::directory_iterator(options_.directory)) {
      names.push_back(file.path().filename().string() + ":" +
                      std::to_string(file.path().filename() == "holder" ? 0 : file.file_size()));
    }
    std::sort(names.begin(), names.end());
    return names;
  };
  const auto before = files();
  options_.read_only = true;
  Open();
  clock_.Advance(minutes(30));
  EXPECT_EQ(State(), "/a=1 /b=2");
  EXPECT_EQ(Get("/a"), "1");
  EXPECT_EQ(Events(0), "/a@1 /b@2");
  EXPECT_EQ(Write("/c").outcome, Outcome::kRefused);
  EXPECT_THAT(Write("/c").error.message, HasSubstr("open read-only"));
  EXPECT_FALSE(CompactNow(engine(), {2}).has_value());
  EXPECT_FALSE(engine().GetHealth().writable);
  EXPECT_EQ(files(), before);
}

TEST_F(RocksEngineTest, TooManyThatWaitAreRefused) {
  options_.max_waiting = 0;
  const TxnReply reply = Write("/a");
  EXPECT_EQ(reply.outcome, Outcome::kRefused);
  EXPECT_EQ(reply.error.reason, base::Reason::kTooManyRequests);
}

}  // namespace
}  // namespace berth::store::rocks
