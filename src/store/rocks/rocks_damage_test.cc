// What the engine does with files that are not as it left them: it cuts off torn ends, and refuses
// and names damage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "store/rocks/testing/rocks_testing.h"

namespace berth::store::rocks {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class DamageTest : public RocksTest {
 protected:
  /// Returns the store's files whose names end in `end`, sorted.
  std::vector<std::filesystem::path> Files(std::string_view end) {
    std::vector<std::filesystem::path> files;
    for (const auto& file : std::filesystem::directory_iterator(options_.directory)) {
      if (file.path().string().ends_with(end)) files.push_back(file.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  /// Returns the log with the last writes.
  std::filesystem::path Log() { return Files(".log").back(); }

  static std::string Read(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void Overwrite(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  /// Flips a bit of the first byte of `what`, which must be in the file. Returns its offset.
  static uint64_t Flip(const std::filesystem::path& path, std::string_view what) {
    std::string bytes = Read(path);
    const size_t at = bytes.find(what);
    EXPECT_NE(at, std::string::npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    Overwrite(path, bytes);
    return at;
  }

  std::string Copies() {
    std::string text;
    for (const auto& file : std::filesystem::recursive_directory_iterator(options_.directory)) {
      if (file.path().string().find("/cut-") != std::string::npos && file.is_regular_file()) {
        text += Read(file.path());
      }
    }
    return text;
  }
};

TEST_F(DamageTest, AFlippedByteInTheLastAcknowledgedWriteIsRefused) {
  Put("/a", "first value");
  Put("/b", "second value");
  Close();
  const std::string log = Log();
  Flip(log, "second value");
  const base::Error error = OpenError();
  EXPECT_THAT(error.message,
              AllOf(HasSubstr(log), HasSubstr("checksum mismatch"),
                    HasSubstr("berth snapshot restore"), HasSubstr("berth salvage")));
  EXPECT_EQ(Copies(), "");
}

TEST_F(DamageTest, SoIsOneInItsLength) {
  // RocksDB would take such a record for the end of the log.
  Put("/a", "first value");
  Put("/b", "second value");
  Close();
  const std::string log = Log();
  std::string bytes = Read(log);
  // All records are in one block, so each header of 7 bytes follows the previous record directly.
  size_t header = 0;
  for (size_t next = 0; next < bytes.find("second value");) {
    header = next;
    next += 7 + static_cast<uint8_t>(bytes[next + 4]) + 256 * static_cast<uint8_t>(bytes[next + 5]);
  }
  bytes[header + 5] = 0x40;
  Overwrite(log, bytes);
  EXPECT_THAT(OpenError().message, AllOf(HasSubstr(log), HasSubstr("byte")));
}

TEST_F(DamageTest, AFlippedByteInTheMiddleIsRefusedAndNamed) {
  for (int i = 0; i < 10; ++i) Put("/a", "value number " + std::to_string(i));
  Close();
  const std::string log = Log();
  const uint64_t at = Flip(log, "value number 5");
  const std::string message = OpenError().message;
  EXPECT_THAT(message, AllOf(HasSubstr(log), HasSubstr("records that can be read")));
  // The message has the offset of the record, which begins a little before the byte.
  const size_t where = message.find("at byte ") + 8;
  const uint64_t offset = std::stoull(message.substr(where));
  EXPECT_LT(offset, at);
  EXPECT_GT(offset + 200, at);
  Flip(log, "walue number 5");
  EXPECT_EQ(State(), "/a=value number 9") << "as it was";
}

TEST_F(DamageTest, ATornEndIsCutOffAndACopyKept) {
  Put("/a", "kept");
  Close();
  // This is what a write leaves that a crash cut short.
  const std::string log = Log();
  const std::string whole = Read(log);
  Overwrite(log, whole + std::string("\x12\x34\x56\x78\xff\x00\x01torn", 11));
  EXPECT_EQ(State(), "/a=kept");
  EXPECT_THAT(lines_.Text(), HasSubstr("cut off the torn end"));
  EXPECT_THAT(Copies(), HasSubstr("torn"));
  EXPECT_EQ(Put("/b"), 2);
  Close();
  EXPECT_EQ(State(), "/a=kept /b=v");
}

TEST_F(DamageTest, ATornEndIsReadAroundWhenNothingMayChange) {
  Put("/a", "kept");
  Close();
  const std::string log = Log();
  const std::string torn = Read(log) + std::string("\x12\x34\x56\x78\x03\x00\x01torn", 11);
  Overwrite(log, torn);
  options_.read_only = true;
  EXPECT_EQ(State(), "/a=kept");
  Close();
  EXPECT_EQ(Read(log), torn);
}

TEST_F(DamageTest, AWriteWithoutItsSealMayBeCutOff) {
  // The files are as if the machine had died during the write, before it was acknowledged.
  Put("/a", "acknowledged");
  const uint64_t size = Read(Log()).size();
  Put("/b", "never acknowledged");
  Close();
  const std::string log = Log();
  std::string bytes = Read(log);
  const size_t torn = bytes.find("never acknowledged");
  ASSERT_GT(torn, size);
  Overwrite(log, bytes.substr(0, torn + 5));
  EXPECT_EQ(State(), "/a=acknowledged");
  EXPECT_THAT(Copies(), HasSubstr("never"));
}

TEST_F(DamageTest, ADamagedTableIsRefusedAndNamed) {
  for (int i = 0; i < 100; ++i) Put(Numbered(i), "value number " + std::to_string(i));
  Close();
  Open();  // Moves the contents of the log into a table.
  Close();
  std::string damaged;
  for (const auto& table : Files(".sst")) {
    if (Read(table).find("value number 50") == std::string::npos) continue;
    Flip(table, "value number 50");
    damaged = table.filename();
  }
  ASSERT_NE(damaged, "");
  EXPECT_THAT(OpenError().message,
              AllOf(HasSubstr("damaged"), HasSubstr(damaged), HasSubstr("berth snapshot restore")));
}

TEST_F(DamageTest, AMissingTableIsRefusedAndNamed) {
  Put("/a");
  Close();
  Open();
  Close();
  const auto table = Files(".sst").back();
  std::filesystem::remove(table);
  EXPECT_THAT(OpenError().message, AllOf(HasSubstr("damaged"), HasSubstr(table.stem())));
}

TEST_F(DamageTest, AStoreThatLostItsBeginningIsNotMadeAnew) {
  Put("/a");
  Close();
  std::filesystem::remove(options_.directory + "/CURRENT");
  EXPECT_THAT(OpenError().message, AllOf(HasSubstr("damaged"), HasSubstr("CURRENT")));
}

TEST_F(DamageTest, AHalfSalvagedStoreIsRefused) {
  Put("/a");
  Close();
  std::ofstream note(options_.directory + "/salvaging");
  EXPECT_THAT(OpenError().message, HasSubstr("berth salvage"));
}

TEST_F(DamageTest, UnderLoadTheLastWriteIsSealedAsWell) {
  for (int i = 0; i < 200; ++i) {
    engine().Commit({.puts = {{.key = Numbered(i), .value = "value"}}}, [](const TxnReply&) {});
  }
  Put("/last", "the very last");
  Close();
  Flip(Log(), "the very last");
  EXPECT_THAT(OpenError().message, HasSubstr("damaged"));
}

}  // namespace
}  // namespace berth::store::rocks
