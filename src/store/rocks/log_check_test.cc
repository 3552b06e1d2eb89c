#include "store/rocks/log_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/crc32c.h"
#include "base/random.h"
#include "base/temp_dir.h"
#include "base/testing/base_kit.h"

namespace berth::store::rocks {
namespace {

namespace fs = std::filesystem;
using base::TempDir;
using ::testing::HasSubstr;

constexpr size_t kBlock = 32768;

std::string Read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void Write(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  ASSERT_TRUE(file.good());
}

rocksdb::Options DbOptions() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  return options;
}

std::unique_ptr<rocksdb::DB> OpenDb(const std::string& directory, rocksdb::Status* status) {
  rocksdb::DB* db = nullptr;
  *status = rocksdb::DB::Open(DbOptions(), directory, &db);
  return std::unique_ptr<rocksdb::DB>(db);
}

/// A log as librocksdb writes it, and the offsets at which each record begins and ends.
struct RealLog {
  std::string bytes;
  std::vector<size_t> begins;
  std::vector<size_t> ends;

  size_t RecordAt(size_t offset) const {
    return static_cast<size_t>(std::ranges::upper_bound(begins, offset) - begins.begin()) - 1;
  }
};

/// Writes one value of each size into a new store, in one record each, and leaves them in the log.
void WriteDb(const std::string& directory, const std::vector<size_t>& sizes, RealLog* log) {
  rocksdb::Status status;
  auto db = OpenDb(directory, &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  std::vector<size_t> payloads;
  for (size_t i = 0; i < sizes.size(); ++i) {
    rocksdb::WriteBatch batch;
    batch.Put("key" + std::to_string(i), std::string(sizes[i], static_cast<char>('a' + i % 26)));
    payloads.push_back(batch.GetDataSize());
    ASSERT_TRUE(db->Write({}, &batch).ok());
  }
  rocksdb::VectorLogPtr files;
  ASSERT_TRUE(db->FlushWAL(true).ok());
  ASSERT_TRUE(db->GetSortedWalFiles(files).ok());
  ASSERT_EQ(files.size(), 1U);
  log->bytes = Read(directory + files.front()->PathName());
  size_t at = 0;
  for (size_t left : payloads) {
    bool first = true;
    do {
      if (kBlock - at % kBlock < 7) at += kBlock - at % kBlock;
      if (first) log->begins.push_back(at);
      const size_t fragment = std::min(left, kBlock - at % kBlock - 7);
      at += 7 + fragment;
      left -= fragment;
      first = false;
    } while (left > 0);
    log->ends.push_back(at);
  }
  ASSERT_EQ(at, log->bytes.size());
}

/// Returns sizes that give small records, records over several blocks, and one that ends where a
/// block has no room for another header.
std::vector<size_t> MixedSizes() {
  return {10,  700,    700, 40'000, 5, 3,      120'000, 700, 700, 0, 31'000,
          700, 33'000, 12,  700,    1, 90'000, 700,     700, 700, 64};
}

RealLog MakeRealLog(const std::vector<size_t>& sizes) {
  RealLog log;
  const TempDir directory;
  WriteDb(directory.Path(), sizes, &log);
  return log;
}

/// Builds a record by hand, for types that librocksdb does not write here.
std::string Record(uint8_t type, std::string_view payload, std::string_view log_number = {}) {
  std::string checked(1, static_cast<char>(type));
  checked += log_number;
  checked += payload;
  const uint32_t crc = base::Crc32c(checked);
  const uint32_t masked = (crc >> 15 | crc << 17) + 0xa282ead8U;
  std::string record;
  for (int shift = 0; shift < 32; shift += 8) record += static_cast<char>(masked >> shift);
  record += static_cast<char>(payload.size() & 0xff);
  record += static_cast<char>(payload.size() >> 8);
  return record + checked;
}

TEST(ScanLog, ReadsWhatLibrocksdbWrites) {
  const RealLog log = MakeRealLog(MixedSizes());
  ASSERT_GT(log.bytes.size(), 8 * kBlock);
  const LogScan scan = ScanLog(log.bytes);
  EXPECT_EQ(scan.records, MixedSizes().size());
  EXPECT_FALSE(scan.bad_offset.has_value()) << *scan.bad_offset << scan.what;
  EXPECT_EQ(scan.records_after, 0U);
}

TEST(ScanLog, NothingIsNotBad) {
  EXPECT_FALSE(ScanLog("").bad_offset.has_value());
  EXPECT_FALSE(ScanLog(std::string(100'000, '\0')).bad_offset.has_value());
}

TEST(ScanLog, ZeroesBehindTheLastRecordAreNoRecord) {
  const RealLog log = MakeRealLog({700, 50'000, 700});
  for (const size_t zeroes : {1U, 6U, 7U, 8U, 4096U, 100'000U}) {
    const LogScan scan = ScanLog(log.bytes + std::string(zeroes, '\0'));
    EXPECT_EQ(scan.records, 3U);
    EXPECT_FALSE(scan.bad_offset.has_value()) << zeroes;
  }
}

TEST(ScanLog, EveryChangedByteCostsExactlyItsRecord) {
  const uint64_t seed = base::TestSeed(1);
  SCOPED_TRACE(::testing::Message() << "BERTH_SEED=" << seed);
  base::SeededRandom random(seed);
  const RealLog log = MakeRealLog(MixedSizes());
  const size_t records = log.begins.size();
  std::vector<size_t> offsets;
  for (const size_t begin : log.begins) {
    for (size_t i = 0; i < 9 && begin + i < log.bytes.size(); ++i) offsets.push_back(begin + i);
  }
  for (size_t block = kBlock; block < log.bytes.size(); block += kBlock) {
    for (size_t i = 0; i < 8; ++i) offsets.push_back(block + i);
  }
  for (int64_t i = 0; i < base::LongCount(10'000); ++i) {
    offsets.push_back(base::Uniform(random, log.bytes.size()));
  }
  std::string bytes = log.bytes;
  for (const size_t offset : offsets) {
    const size_t hit = log.RecordAt(offset);
    if (offset >= log.ends[hit]) continue;  // Filler belongs to no record.
    bytes[offset] = static_cast<char>(static_cast<uint8_t>(log.bytes[offset]) ^
                                      (1 + base::Uniform(random, 255)));
    const LogScan scan = ScanLog(bytes);
    ASSERT_EQ(scan.bad_offset, log.begins[hit]) << "byte " << offset << ": " << scan.what;
    ASSERT_EQ(scan.records, hit) << "byte " << offset;
    ASSERT_EQ(scan.records_after, records - hit - 1) << "byte " << offset << ": " << scan.what;
    bytes[offset] = log.bytes[offset];
  }
}

TEST(ScanLog, AFileCutAnywhereHasOneBadTailAtMost) {
  const RealLog log = MakeRealLog(MixedSizes());
  std::vector<size_t> cuts;
  for (size_t i = 0; i < log.begins.size(); ++i) {
    for (const size_t at : {log.begins[i] + 1, log.begins[i] + 6, log.begins[i] + 8,
                            (log.begins[i] + log.ends[i]) / 2, log.ends[i] - 1, log.ends[i]}) {
      cuts.push_back(at);
    }
  }
  for (size_t block = kBlock; block < log.bytes.size(); block += kBlock) cuts.push_back(block);
  for (const size_t cut : cuts) {
    const size_t hit = log.RecordAt(cut - 1);
    // The rest of a cut record may be all zeroes, which count as no record.
    const size_t left = log.bytes.find_first_not_of('\0', log.begins[hit]);
    const bool whole = cut >= log.ends[hit];
    const LogScan scan = ScanLog(std::string_view(log.bytes).substr(0, cut));
    EXPECT_EQ(scan.records, hit + (whole ? 1 : 0)) << cut;
    EXPECT_EQ(scan.records_after, 0U) << cut;
    const bool torn = !whole && left < cut;
    EXPECT_EQ(scan.bad_offset, torn ? std::optional<uint64_t>(log.begins[hit]) : std::nullopt)
        << cut << scan.what;
  }
}

TEST(ScanLog, ZeroesOverRecordsAreBad) {
  // RocksDB silently skips zeroes up to the end of their block.
  const RealLog log = MakeRealLog(std::vector<size_t>(300, 700));
  std::string bytes = log.bytes;
  const size_t at = log.begins[10];
  std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at), 4096, '\0');
  const LogScan scan = ScanLog(bytes);
  EXPECT_EQ(scan.bad_offset, at);
  EXPECT_EQ(scan.what, "zeroes where a record should be");
  EXPECT_EQ(scan.records, 10U);
  EXPECT_EQ(scan.records_after, 300 - 10 - (log.RecordAt(at + 4095) - 10 + 1));
}

TEST(ScanLog, PiecesOfATornRecordAreNotRecords) {
  // A page in the middle never reached the disk, but the pages after it did.
  const RealLog log = MakeRealLog({700, 200'000});
  for (const size_t page : {size_t{0}, size_t{8}, size_t{20}}) {
    std::string bytes = log.bytes;
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(log.begins[1] + page * 4096), 4096, '\0');
    const LogScan scan = ScanLog(bytes);
    EXPECT_EQ(scan.bad_offset, log.begins[1]);
    EXPECT_EQ(scan.records, 1U);
    EXPECT_EQ(scan.records_after, 0U);
  }
}

TEST(ScanLog, FragmentsOutOfPlace) {
  const std::string full = Record(1, "full");
  EXPECT_EQ(ScanLog(full + Record(2, "first") + full).what, "record without an end");
  EXPECT_EQ(ScanLog(full + Record(2, "first") + full).bad_offset, full.size());
  EXPECT_EQ(ScanLog(full + Record(2, "first") + full).records_after, 1U);
  EXPECT_EQ(ScanLog(full + Record(4, "last") + full).what, "record without a beginning");
  EXPECT_EQ(ScanLog(full + Record(9, "new") + full).what, "unknown record type");
  EXPECT_EQ(ScanLog(full + Record(9, "new") + full).records_after, 1U);
  const LogScan forgiven = ScanLog(Record(2, "") + full);
  EXPECT_FALSE(forgiven.bad_offset.has_value());
  EXPECT_EQ(forgiven.records, 1U);
}

TEST(ScanLog, RecycledFilesEndWhereTheOldLogBegins) {
  const std::string fresh = Record(5, "new", "\x07zzz") + Record(6, "ne", "\x07zzz") +
                            Record(7, "w", "\x07zzz") + Record(8, "est", "\x07zzz");
  const std::string old = Record(5, "old", "\x03zzz");
  EXPECT_EQ(ScanLog(fresh).records, 2U);
  const LogScan scan = ScanLog(fresh + old + old);
  EXPECT_EQ(scan.records, 2U);
  EXPECT_FALSE(scan.bad_offset.has_value());
  // Old records after a torn one do not prove that it was acknowledged.
  const LogScan torn = ScanLog(fresh + Record(5, "torn", "\x07zzz").substr(0, 12) + old + old);
  EXPECT_EQ(torn.bad_offset, fresh.size());
  EXPECT_EQ(torn.records_after, 0U);
  // Their headers are longer, so the filler at the end of a block may be longer too.
  std::string block = Record(5, std::string(kBlock - 11 - 9, 'x'), "\x07zzz");
  block.resize(kBlock, '\0');
  EXPECT_EQ(ScanLog(block + fresh).records, 3U);
}

TEST(CheckLogs, WithoutLogsOrDirectory) {
  const TempDir directory;
  Write(directory.Path() + "/LOG", "nothing of ours");
  Write(directory.Path() + "/x12.log", "nothing of ours");
  Write(directory.Path() + "/12.log.bak", "nothing of ours");
  const auto none = CheckLogs(directory.Path());
  ASSERT_TRUE(none.has_value()) << none.error().message;
  EXPECT_FALSE(none->has_value());
  const auto missing = CheckLogs(directory.Path() + "/missing");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message, HasSubstr(directory.Path() + "/missing"));
}

/// Three log files with two records each. Sorting their names as text would give a wrong order.
class SeveralLogs : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const std::string& name : names_) Write(directory_.Path() + "/" + name, good_);
  }

  std::optional<BadRecord> Check() {
    auto bad = CheckLogs(directory_.Path());
    EXPECT_TRUE(bad.has_value()) << bad.error().message;
    return bad.value_or(std::nullopt);
  }

  std::string PathOf(size_t i) const { return directory_.Path() + "/" + names_[i]; }

  const TempDir directory_;
  const std::vector<std::string> names_ = {"000009.log", "999999.log", "1000000.log"};
  const std::string record_ = Record(1, "something");
  const std::string good_ = record_ + record_;
  const std::string torn_ = good_ + record_.substr(0, 10);
};

TEST_F(SeveralLogs, AllReadable) { EXPECT_FALSE(Check().has_value()); }

TEST_F(SeveralLogs, TornInTheLastIsATail) {
  Write(PathOf(2), torn_);
  const auto bad = Check();
  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(bad->file, PathOf(2));
  EXPECT_EQ(bad->offset, good_.size());
  EXPECT_EQ(bad->what, "record cut short");
  EXPECT_TRUE(bad->tail);
  EXPECT_EQ(bad->lost_records, 0U);
  EXPECT_EQ(bad->lost_bytes, 10U);
}

TEST_F(SeveralLogs, TornBeforeReadableFilesIsDamage) {
  Write(PathOf(0), torn_);
  const auto bad = Check();
  ASSERT_TRUE(bad.has_value());
  EXPECT_EQ(bad->file, PathOf(0));
  EXPECT_FALSE(bad->tail);
  EXPECT_EQ(bad->lost_records, 4U);
  EXPECT_EQ(bad->lost_bytes, 10 + 2 * good_.size());
}

TEST_F(SeveralLogs, TornBeforeEmptyFilesIsATail) {
  Write(PathOf(0), torn_);
  Write(PathOf(1), "");
  Write(PathOf(2), std::string(4096, '\0'));
  EXPECT_TRUE(Check()->tail);
}

TEST_F(SeveralLogs, CutKeepsACopyAndLeavesReadableFiles) {
  std::string flipped = good_;
  flipped[record_.size() + 8] ^= 1;
  Write(PathOf(1), flipped);
  const auto bad = Check();
  ASSERT_TRUE(bad.has_value());
  EXPECT_FALSE(bad->tail);
  const auto folder = CutLog(directory_.Path(), *bad, "20261115T043500Z");
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  EXPECT_EQ(*folder, directory_.Path() + "/cut-20261115T043500Z");
  EXPECT_FALSE(Check().has_value());
  EXPECT_EQ(Read(PathOf(0)), good_);
  EXPECT_EQ(Read(PathOf(1)), record_);
  EXPECT_FALSE(fs::exists(PathOf(2)));
  EXPECT_EQ(Read(*folder + "/999999.log.from-" + std::to_string(record_.size())),
            flipped.substr(record_.size()));
  EXPECT_EQ(Read(*folder + "/1000000.log"), good_);
}

TEST_F(SeveralLogs, TwoCutsInOneSecondHaveTwoFolders) {
  for (const char* suffix : {"", "-2"}) {
    Write(PathOf(2), torn_);
    const auto folder = CutLog(directory_.Path(), *Check(), "20261115T043500Z");
    ASSERT_TRUE(folder.has_value()) << folder.error().message;
    EXPECT_EQ(*folder, directory_.Path() + "/cut-20261115T043500Z" + suffix);
  }
}

TEST_F(SeveralLogs, ACutThatCannotCopyChangesNothing) {
  Write(PathOf(1), torn_);
  const auto bad = Check();
  const auto failed = CutLog(directory_.Path(), *bad, "no/such");
  ASSERT_FALSE(failed.has_value());
  EXPECT_THAT(failed.error().message, HasSubstr("cut-no/such: No such file or directory"));
  EXPECT_EQ(Read(PathOf(1)), torn_);
  EXPECT_EQ(Read(PathOf(2)), good_);
  const BadRecord gone{.file = "/elsewhere/000123.log", .what = {}};
  EXPECT_FALSE(CutLog(directory_.Path(), gone, "20261115T043500Z").has_value());
}

/// A store whose log the tests change as a crash or a bad disk would.
class RealStore : public ::testing::Test {
 protected:
  void SetUp() override {
    WriteDb(directory_.Path(), MixedSizes(), &log_);
    for (const auto& entry : fs::directory_iterator(directory_.Path())) {
      if (entry.path().extension() == ".log") path_ = entry.path();
    }
  }

  size_t KeysOf(rocksdb::DB& db) {
    size_t keys = 0;
    const std::unique_ptr<rocksdb::Iterator> it(db.NewIterator({}));
    for (it->SeekToFirst(); it->Valid(); it->Next()) ++keys;
    return keys;
  }

  const TempDir directory_;
  RealLog log_;
  std::string path_;
};

TEST_F(RealStore, OpensAfterATornTailIsCut) {
  const size_t records = log_.begins.size();
  std::string torn = log_.bytes;
  torn[log_.ends.back() - 1] ^= 1;
  Write(path_, torn);
  const auto bad = CheckLogs(directory_.Path());
  ASSERT_TRUE(bad.has_value() && bad->has_value());
  EXPECT_TRUE((*bad)->tail);
  EXPECT_EQ((*bad)->offset, log_.begins.back());
  EXPECT_EQ((*bad)->what, "checksum mismatch");
  rocksdb::Status status;
  EXPECT_EQ(OpenDb(directory_.Path(), &status), nullptr) << "then there is no need to cut";
  ASSERT_TRUE(CutLog(directory_.Path(), **bad, "20261115T043500Z").has_value());
  auto db = OpenDb(directory_.Path(), &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(KeysOf(*db), records - 1);
}

TEST_F(RealStore, FindsWhatRocksDbWouldOpenWithoutAWord) {
  // The changed length in the last block reaches beyond the file. RocksDB takes that for the end.
  std::string bytes = log_.bytes;
  const size_t hit = log_.begins.size() - 3;
  ASSERT_GE(log_.begins[hit] / kBlock * kBlock, log_.bytes.size() / kBlock * kBlock);
  bytes[log_.begins[hit] + 5] = '\x7f';
  Write(path_, bytes);
  const auto bad = CheckLogs(directory_.Path());
  ASSERT_TRUE(bad.has_value() && bad->has_value());
  EXPECT_FALSE((*bad)->tail);
  EXPECT_EQ((*bad)->offset, log_.begins[hit]);
  EXPECT_EQ((*bad)->lost_records, 2U);
  rocksdb::Status status;
  auto db = OpenDb(directory_.Path(), &status);
  ASSERT_TRUE(status.ok()) << status.ToString();
  EXPECT_EQ(KeysOf(*db), hit) << "RocksDB has become more careful; simplify";
}

}  // namespace
}  // namespace berth::store::rocks
