#include "obs/audit_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/temp_dir.h"

namespace berth::obs {
namespace {

using ::testing::HasSubstr;

class AuditLogTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name = "audit.log") const {
    return directory_.Path() + "/" + name;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  static AuditRecord Record(std::string_view uri) {
    return {.time = base::WallTime(std::chrono::milliseconds(1'794'717'300'123)),
            .id = "id-1",
            .user = "amy \"the\" admin",
            .groups = nullptr,
            .source = "127.0.0.1:4711",
            .verb = "create",
            .method = "POST",
            .uri = uri,
            .code = 201,
            .took = std::chrono::microseconds(1900)};
  }

  base::SystemClock clock_;
  base::Logger log_{{.sink = [](std::string_view) {}}, clock_};
  const base::TempDir directory_;
};

TEST_F(AuditLogTest, ALineSaysWhoDidWhatAndHowItEnded) {
  auto audit = AuditLog::Open({.path = Path()}, log_);
  ASSERT_TRUE(audit) << audit.error().message;
  AuditRecord record = Record("/api/v1/namespaces/shop/services?dryRun=All");
  const std::vector<std::string> groups = {"system:masters", "system:authenticated"};
  record.groups = &groups;
  (*audit)->Write(record);
  (*audit)->Flush();
  EXPECT_EQ(Read(Path()),
            "{\"time\":\"2026-11-15T04:35:00.123Z\",\"id\":\"id-1\","
            "\"user\":\"amy \\\"the\\\" admin\","
            "\"groups\":[\"system:masters\",\"system:authenticated\"],"
            "\"source\":\"127.0.0.1:4711\",\"verb\":\"create\",\"method\":\"POST\","
            "\"uri\":\"/api/v1/namespaces/shop/services?dryRun=All\",\"code\":201,\"ms\":1.900}\n");
}

TEST_F(AuditLogTest, FilesAreRotatedAndTheOldestGo) {
  auto audit = AuditLog::Open({.path = Path(), .max_bytes = 1000, .backups = 2}, log_);
  ASSERT_TRUE(audit);
  for (int i = 0; i < 40; ++i) {
    (*audit)->Write(Record("/number/" + std::to_string(i)));
    (*audit)->Flush();
  }
  EXPECT_THAT(Read(Path()), HasSubstr("/number/39"));
  EXPECT_TRUE(std::filesystem::exists(Path("audit.log.1")));
  EXPECT_TRUE(std::filesystem::exists(Path("audit.log.2")));
  EXPECT_FALSE(std::filesystem::exists(Path("audit.log.3")));
  for (const char* name : {"audit.log", "audit.log.1", "audit.log.2"}) {
    EXPECT_LE(std::filesystem::file_size(Path(name)), 1000U) << name;
  }
}

TEST_F(AuditLogTest, WhatWaitsIsBoundedAndWhatIsLeftOutIsCounted) {
  auto audit = AuditLog::Open({.path = Path(), .max_waiting_bytes = 10'000}, log_);
  ASSERT_TRUE(audit);
  for (int i = 0; i < 1000; ++i) (*audit)->Write(Record("/many"));
  (*audit)->Flush();
  const uint64_t dropped = (*audit)->Dropped();
  EXPECT_GT(dropped, 0U);
  (*audit)->Write(Record("/after"));
  (*audit)->Flush();
  const std::string text = Read(Path());
  EXPECT_THAT(text, HasSubstr("{\"dropped\":"));
  EXPECT_THAT(text, HasSubstr("/after"));
}

TEST_F(AuditLogTest, GoesOnWithTheFileThatIsThere) {
  {
    (*AuditLog::Open({.path = Path()}, log_))->Write(Record("/first"));
  }
  {
    (*AuditLog::Open({.path = Path()}, log_))->Write(Record("/second"));
  }
  EXPECT_THAT(Read(Path()), ::testing::AllOf(HasSubstr("/first"), HasSubstr("/second")));
}

TEST_F(AuditLogTest, AFileThatCannotBeOpenedIsSaid) {
  const auto audit = AuditLog::Open({.path = Path("no/such/folder")}, log_);
  ASSERT_FALSE(audit);
  EXPECT_THAT(audit.error().message, HasSubstr("--audit-log-path"));
}

}  // namespace
}  // namespace berth::obs
