#include "store/snapshot_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/testing/base_kit.h"
#include "store/blocking.h"
#include "store/keys.h"
#include "store/memory_engine.h"

namespace berth::store {
namespace {

using namespace std::chrono_literals;
using base::Reason;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const base::WallTime kNow = base::WallTime(1'794'000'000'123ms);

void PutKey(Engine& engine, std::string key, std::string value, std::chrono::seconds ttl = 0s) {
  Txn txn;
  txn.puts.push_back({.key = std::move(key), .value = std::move(value), .ttl = ttl});
  ASSERT_EQ(CommitNow(engine, std::move(txn)).outcome, Outcome::kCommitted);
}

std::vector<Entry> AllEntries(Engine& engine, Revision at = {}) {
  std::vector<Entry> entries;
  EXPECT_TRUE(ScanPages(engine, {.prefix = std::string(kPrefix), .at = at, .with_ttl = true},
                        [&](ScanPage& page) {
                          std::ranges::move(page.entries, std::back_inserter(entries));
                        })
                  .has_value());
  return entries;
}

base::Result<SnapshotFileInfo> ReadBytes(std::string_view bytes,
                                         std::vector<Entry>* entries = nullptr) {
  const ByteSource source = [&](char* into, size_t room) -> base::Result<size_t> {
    const size_t size = std::min({room, bytes.size(), size_t{1000}});
    std::ranges::copy(bytes.substr(0, size), into);
    bytes.remove_prefix(size);
    return size;
  };
  const EntrySink sink = [&](Entry entry) -> base::Result<void> {
    if (entries != nullptr) entries->push_back(std::move(entry));
    return {};
  };
  return ReadSnapshot(source, sink);
}

class SnapshotFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = ::testing::TempDir() + fmt::format("snapshot_test_{}", getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Path(std::string_view name) const { return fmt::format("{}/{}", folder_, name); }

  /// Puts that many Services with random values, so that a snapshot has several pages and blocks.
  void Fill(int services) {
    base::SeededRandom random(base::TestSeed(7));
    for (int i = 0; i < services; ++i) {
      std::string value;
      for (uint64_t size = base::Uniform(random, 900); size > 0; --size) {
        value += static_cast<char>(random.Next());
      }
      PutKey(*engine_, fmt::format("/registry/services/specs/shop/web-{}", i), value);
    }
    PutKey(*engine_, "/registry/events/shop/e", "event", 3600s);
    PutKey(*engine_, "/registry/namespaces/shop", "");
    PutKey(*engine_, "/registry/zz", std::string(1'390'000, 'x'));
  }

  std::string Bytes(const SnapshotFileOptions& options = {}) {
    std::string bytes;
    const ByteSink sink = [&](std::string_view more) -> base::Result<void> {
      bytes += more;
      return {};
    };
    const auto info = SaveSnapshot(*engine_, sink, options, clock_);
    EXPECT_TRUE(info.has_value());
    EXPECT_EQ(info->file_bytes, bytes.size());
    return bytes;
  }

  base::ManualClock clock_{kNow};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Make({.base = {1000}}, clock_);
  std::string folder_;
};

TEST_F(SnapshotFileTest, ReadsBackEqual) {
  Fill(2500);
  const auto saved = SaveSnapshotFile(*engine_, Path("a"), {.source = "here"}, clock_);
  ASSERT_TRUE(saved.has_value()) << saved.error().message;
  std::vector<Entry> entries;
  const auto read = ReadSnapshotFile(Path("a"), [&](Entry entry) -> base::Result<void> {
    entries.push_back(std::move(entry));
    return {};
  });
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(*read, *saved);
  EXPECT_EQ(entries, AllEntries(*engine_));
  EXPECT_EQ(read->source, "here");
  EXPECT_EQ(read->created, kNow);
  EXPECT_EQ(read->revision, CurrentNow(*engine_));
  EXPECT_EQ(read->keys, 2503);
  EXPECT_EQ(read->expiring, 1);
  EXPECT_EQ(read->file_bytes, std::filesystem::file_size(Path("a")));
  StateSummary summary;
  for (const Entry& entry : entries) summary.Add(entry);
  EXPECT_EQ(read->checksum, summary.Checksum());
  EXPECT_FALSE(std::filesystem::exists(Path("a.part")));
  struct stat status{};
  ASSERT_EQ(stat(Path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600) << "a snapshot holds what the store holds";
}

TEST_F(SnapshotFileTest, AnEmptyStoreIsOne) {
  std::vector<Entry> entries;
  const auto info = ReadBytes(Bytes(), &entries);
  ASSERT_TRUE(info.has_value()) << info.error().message;
  EXPECT_EQ(info->keys, 0);
  EXPECT_EQ(info->revision, Revision{1000});
  EXPECT_TRUE(entries.empty());
}

TEST_F(SnapshotFileTest, HoldsValuesInTheFormAskedFor) {
  PutKey(*engine_, "/registry/a/b", "noted 17");
  std::vector<Entry> entries;
  const auto bytes = Bytes({.normalise = [](std::string_view key, std::string& value) {
    if (key == "/registry/a/b") value = "plain";
  }});
  ASSERT_TRUE(ReadBytes(bytes, &entries).has_value());
  EXPECT_EQ(entries.at(0).value, "plain");
}

TEST_F(SnapshotFileTest, IsOfOneRevisionWhileOthersWrite) {
  Fill(1500);
  std::vector<Entry> before;
  bool first = true;
  std::string bytes;
  const ByteSink sink = [&](std::string_view more) -> base::Result<void> {
    // The first page has been read. From now on everything changes.
    if (std::exchange(first, false)) {
      before = AllEntries(*engine_);
      Fill(1400);
      Txn txn{.deletes = {"/registry/services/specs/shop/web-1499", "/registry/zz"}};
      EXPECT_EQ(CommitNow(*engine_, txn).outcome, Outcome::kCommitted);
      PutKey(*engine_, "/registry/zzz", "new");
    }
    bytes += more;
    return {};
  };
  ASSERT_TRUE(SaveSnapshot(*engine_, sink, {}, clock_).has_value());
  std::vector<Entry> entries;
  ASSERT_TRUE(ReadBytes(bytes, &entries).has_value());
  ASSERT_EQ(entries.size(), before.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    before[i].ttl = entries[i].ttl;  // The remaining time is not a part of a past state.
    EXPECT_EQ(entries[i], before[i]);
  }
}

TEST_F(SnapshotFileTest, SaysWhenHistoryEndedMeanwhile) {
  Fill(1500);
  bool first = true;
  const ByteSink sink = [&](std::string_view) -> base::Result<void> {
    if (std::exchange(first, false)) {
      PutKey(*engine_, "/registry/a/b", "");
      EXPECT_TRUE(CompactNow(*engine_, *CurrentNow(*engine_)).has_value());
    }
    return {};
  };
  const auto info = SaveSnapshot(*engine_, sink, {}, clock_);
  ASSERT_FALSE(info.has_value());
  EXPECT_EQ(info.error().reason, Reason::kExpired);
}

TEST_F(SnapshotFileTest, EveryFlippedByteAndEveryCutIsFound) {
  for (int i = 0; i < 3; ++i) {
    PutKey(*engine_, fmt::format("/registry/services/specs/shop/web-{}", i), "value");
  }
  const std::string bytes = Bytes({.source = "here"});
  ASSERT_TRUE(ReadBytes(bytes).has_value());
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    std::vector<Entry> entries;
    const auto info = ReadBytes(flipped, &entries);
    ASSERT_FALSE(info.has_value()) << "byte " << i;
    EXPECT_EQ(info.error().reason, Reason::kInvalid);
    for (const Entry& entry : entries) EXPECT_EQ(entry.value, "value") << "byte " << i;
    ASSERT_FALSE(ReadBytes(bytes.substr(0, i)).has_value()) << "cut at " << i;
  }
  const auto longer = ReadBytes(bytes + "x");
  ASSERT_FALSE(longer.has_value());
  EXPECT_THAT(longer.error().message, HasSubstr("something after the end"));
}

TEST_F(SnapshotFileTest, DamageIsNamedByItsBlock) {
  Fill(2500);
  std::string bytes = Bytes();
  bytes[bytes.size() / 2] ^= 1;
  std::vector<Entry> entries;
  const auto info = ReadBytes(bytes, &entries);
  ASSERT_FALSE(info.has_value());
  EXPECT_THAT(info.error().message, StartsWith("damaged at byte "));
  EXPECT_THAT(info.error().message,
              HasSubstr("the checksum of the block that begins here is wrong"));
  const uint64_t offset = std::stoull(info.error().message.substr(16));
  EXPECT_LE(offset, bytes.size() / 2);
  EXPECT_GT(offset + kMaxBlockBytes, bytes.size() / 2);
  EXPECT_FALSE(entries.empty());
  EXPECT_LT(entries.size(), 2503u);
}

TEST_F(SnapshotFileTest, BlocksInAnotherOrderAreFound) {
  Fill(2500);
  const std::string bytes = Bytes();
  // The blocks are found by their sizes: 'B', 4 bytes of size, entries, 32 bytes of sum.
  std::vector<std::pair<size_t, size_t>> blocks;
  for (size_t at = 15 + 4 + 8 + 8 + 2 + 32; bytes[at] == 'B'; at += blocks.back().second) {
    size_t size = 0;
    for (size_t i = 4; i > 0; --i) size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
    blocks.emplace_back(at, 5 + size + 32);
  }
  ASSERT_GT(blocks.size(), 3u);
  const std::string block = bytes.substr(blocks[1].first, blocks[1].second);
  std::string without = bytes;
  without.erase(blocks[1].first, blocks[1].second);
  EXPECT_FALSE(ReadBytes(without).has_value());
  std::string twice = bytes;
  twice.insert(blocks[1].first, block);
  EXPECT_FALSE(ReadBytes(twice).has_value());
}

TEST_F(SnapshotFileTest, OtherFilesAreRefused) {
  std::ofstream(Path("text")) << "once upon a time";
  EXPECT_EQ(ReadSnapshotFile(Path("text"), {}).error().message,
            fmt::format("\"{}\": is not a berth snapshot", Path("text")));
  std::ofstream(Path("empty")) << "";
  EXPECT_THAT(ReadSnapshotFile(Path("empty"), {}).error().message,
              HasSubstr("not a berth snapshot"));
  std::ofstream(Path("newer"), std::ios::binary) << "berth snapshot\n"
                                                 << std::string("\2\0\0\0", 4);
  EXPECT_THAT(ReadSnapshotFile(Path("newer"), {}).error().message,
              HasSubstr("is a snapshot of format 2; this berth reads format 1"));
  EXPECT_EQ(ReadSnapshotFile(Path("missing"), {}).error().message,
            fmt::format("\"{}\": cannot read it: No such file or directory", Path("missing")));
  EXPECT_EQ(ReadSnapshotFile(Path("missing"), {}).error().reason, Reason::kNotFound);
  EXPECT_THAT(ReadSnapshotFile(folder_, {}).error().message, HasSubstr("Is a directory"));
}

TEST_F(SnapshotFileTest, AnExistingFileStays) {
  std::ofstream(Path("a")) << "precious";
  const auto info = SaveSnapshotFile(*engine_, Path("a"), {}, clock_);
  ASSERT_FALSE(info.has_value());
  EXPECT_EQ(info.error().reason, Reason::kAlreadyExists);
  EXPECT_EQ(std::filesystem::file_size(Path("a")), 8u);
}

TEST_F(SnapshotFileTest, AFailureLeavesNothingBehind) {
  Fill(1500);
  // Writing to this part fails as on a full disk.
  std::filesystem::create_symlink("/dev/full", Path("link.part"));
  EXPECT_FALSE(SaveSnapshotFile(*engine_, Path("link"), {}, clock_).has_value());
  const auto missing = SaveSnapshotFile(*engine_, Path("no/such/folder"), {}, clock_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().reason, Reason::kNotFound);
  bool first = true;
  const auto info =
      SaveSnapshotFile(*engine_, Path("b"),
                       {.progress =
                            [&](uint64_t, uint64_t) {
                              if (!std::exchange(first, false)) return;
                              EXPECT_TRUE(std::filesystem::exists(Path("b.part")));
                              PutKey(*engine_, "/registry/a/b", "");
                              EXPECT_TRUE(CompactNow(*engine_, *CurrentNow(*engine_)).has_value());
                            }},
                       clock_);
  ASSERT_FALSE(info.has_value());
  EXPECT_FALSE(std::filesystem::exists(Path("b")));
  EXPECT_FALSE(std::filesystem::exists(Path("b.part")));
}

TEST_F(SnapshotFileTest, AnUnfinishedCopyIsNotSaved) {
  PutKey(*engine_, std::string(kCopyNoteKey), "from elsewhere");
  const auto info = SaveSnapshotFile(*engine_, Path("a"), {}, clock_);
  ASSERT_FALSE(info.has_value());
  EXPECT_EQ(info.error().message,
            "the store is incomplete: it holds an unfinished copy (from elsewhere)");
}

TEST_F(SnapshotFileTest, TheSinkCanEndIt) {
  Fill(10);
  SaveSnapshotFile(*engine_, Path("a"), {}, clock_);
  int taken = 0;
  const auto info = ReadSnapshotFile(Path("a"), [&](const Entry&) -> base::Result<void> {
    if (++taken == 3) return base::Fail(Reason::kConflict, "enough");
    return {};
  });
  ASSERT_FALSE(info.has_value());
  EXPECT_EQ(info.error().message, "enough");
  EXPECT_EQ(taken, 3);
}

}  // namespace
}  // namespace berth::store
