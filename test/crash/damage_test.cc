// A disk that changes bytes of the log. Whichever byte it is, either nothing acknowledged is lost,
// or the store is not opened and the error names the damaged file and the place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/testing/base_kit.h"
#include "crash/rounds.h"

namespace crash {
namespace {

namespace fs = std::filesystem;
using berth::base::Uniform;

constexpr uint64_t kSector = 512;
constexpr uint64_t kSeal = 32;  // No seal is longer.

std::vector<fs::path> LogsOf(const std::string& directory) {
  std::vector<fs::path> logs;
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path());
  }
  return logs;
}

void Overwrite(const fs::path& path, uint64_t offset, const std::string& bytes) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(offset));
  file << bytes;
  ASSERT_TRUE(file.good());
}

/// Changes a copy of the store and checks the result.
class DamageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto faults = rounds_.Run({.arguments = {{"writers", "4"}, {"ops", "25"}},
                                     .environment = {},
                                     .end = [this](Child& writer) {
                                       rounds_.WaitUntil(writer, "I");
                                       // The last batch gets its seal once no commit waits.
                                       std::this_thread::sleep_for(std::chrono::milliseconds(300));
                                     }});
    ASSERT_TRUE(faults.empty()) << Join(faults);
    ASSERT_TRUE(rounds_.LastLog().idle);
    const auto logs = LogsOf(rounds_.DataDirectory());
    ASSERT_EQ(logs.size(), 1U);
    log_name_ = logs.front().filename();
    log_size_ = fs::file_size(logs.front());
  }

  void Copy() {
    fs::remove_all(copy_);
    fs::copy(rounds_.DataDirectory(), copy_, fs::copy_options::recursive);
  }
  std::string LogPath() const { return copy_ + "/" + log_name_; }

  Rounds rounds_{CRASH_WRITER, TempDir::Medium::kMemory, berth::base::TestSeed(20261122)};
  std::string copy_ = rounds_.DataDirectory() + "-copy";
  std::string log_name_;
  uint64_t log_size_ = 0;
};

TEST_F(DamageTest, ALogAsItWasIsFine) {
  Copy();
  const auto faults = rounds_.LookAt(copy_);
  EXPECT_TRUE(faults.empty()) << Join(faults);
}

TEST_F(DamageTest, ChangedBytesAreFoundOrHarmless) {
  auto& random = rounds_.Random();
  int64_t refused = 0;
  int64_t harmless = 0;
  for (int64_t i = 0; i < berth::base::LongCount(300); ++i) {
    Copy();
    // Half of the time the offset is at the end of the log, where the last batch and its seal are.
    const uint64_t offset =
        Uniform(random, 2) == 0 ? log_size_ - 1 - Uniform(random, 300) : Uniform(random, log_size_);
    // Zeroes over the last batch and its seal look like a batch that was never written.
    const bool zeroes = Uniform(random, 4) == 0 && offset + kSeal < log_size_;
    const uint64_t length = zeroes ? std::min(kSector, log_size_ - kSeal - offset) : 1;
    const char old = ReadFile(LogPath())[offset];
    Overwrite(LogPath(), offset,
              zeroes ? std::string(length, '\0')
                     : std::string(1, static_cast<char>(old ^ (1 << Uniform(random, 8)))));
    const auto faults = rounds_.LookAt(copy_);
    const OpLog& log = rounds_.LastLog();
    if (log.ready) {
      EXPECT_TRUE(faults.empty()) << "byte " << offset << " of " << log_size_ << ", " << length
                                  << " bytes: " << Join(faults);
      ++harmless;
    } else {
      EXPECT_THAT(log.error, ::testing::HasSubstr("is damaged"));
      EXPECT_THAT(log.error, ::testing::HasSubstr(log_name_));
      ++refused;
    }
  }
  EXPECT_GT(refused, 0);
  std::printf("%lld changes refused, %lld harmless\n", static_cast<long long>(refused),
              static_cast<long long>(harmless));
}

}  // namespace
}  // namespace crash
