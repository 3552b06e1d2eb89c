#include "berth/store/report.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "berth/store/progress.h"

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

TEST(ByteTextTest, HasOneDigitBehindThePoint) {
  EXPECT_EQ(ByteText(0), "0 bytes");
  EXPECT_EQ(ByteText(1), "1 byte");
  EXPECT_EQ(ByteText(1023), "1023 bytes");
  EXPECT_EQ(ByteText(1024), "1.0 KiB");
  EXPECT_EQ(ByteText(1536), "1.5 KiB");
  EXPECT_EQ(ByteText(uint64_t{5} << 30), "5.0 GiB");
  EXPECT_EQ(ByteText(uint64_t{5} << 50), "5120.0 TiB");
}

TEST(DurationTextTest, HasMinutesFromAMinuteOn) {
  EXPECT_EQ(DurationText(40ms), "0.0 s");
  EXPECT_EQ(DurationText(59'940ms), "59.9 s");
  EXPECT_EQ(DurationText(60s), "1 min 00 s");
  EXPECT_EQ(DurationText(3723s), "62 min 03 s");
}

TEST(ProgressTextTest, ShowsAShareWhereTheWholeIsKnown) {
  EXPECT_EQ(ProgressText("copying", 12'000, 20'000, 8'493'466),
            "copying: 12,000 of 20,000 keys (60%), 8.1 MiB");
  EXPECT_EQ(ProgressText("deleting", 500, std::nullopt, 0), "deleting: 500 keys");
  EXPECT_EQ(ProgressText("copying", 30, 20, 0), "copying: 30 keys");
  EXPECT_EQ(ProgressText("copying", 0, 0, 0), "copying: 0 keys");
  EXPECT_EQ(ProgressText("reading", 3'000, std::nullopt, 0, "objects"), "reading: 3,000 objects");
  EXPECT_EQ(ProgressHead("verify"), "berth verify: ");
  EXPECT_EQ(ProgressHead(""), "berth: ");
}

Status Example() {
  Status status{.snapshot = true, .path = "a.snap", .source = "embedded:/var/lib/berth"};
  status.created = base::WallTime(1'794'000'000'123ms);
  status.revision = {1007};
  status.disk_bytes = 2048;
  status.summary.Add({.key = "/registry/namespaces/shop", .value = "x"});
  status.summary.Add({.key = "/registry/services/specs/shop/e\x1b[2J", .value = "x", .ttl = 5s});
  return status;
}

TEST(StatusTextTest, ShowsASnapshot) {
  const std::string text = StatusText(Example(), Paint({}));
  EXPECT_TRUE(
      text.starts_with("a.snap   snapshot\n\n"
                       "  Created    2026-11-06T21:20:00.123Z\n"
                       "  Source     embedded:/var/lib/berth\n"
                       "  Revision   1007\n"
                       "  Keys       2, 1 of them expiring\n"
                       "  Size       62 bytes, 2.0 KiB on disk\n"
                       "  Checksum   "))
      << text;
  EXPECT_TRUE(
      text.ends_with("\n\n"
                     "  KIND         KEYS       SIZE\n"
                     "  namespaces      1   26 bytes\n"
                     "  services        1   36 bytes\n"))
      << text;
}

TEST(StatusTextTest, SaysWhatIsIncomplete) {
  Status status = Example();
  status.snapshot = false;
  status.unfinished_copy = "from \x1b here";
  const std::string text = StatusText(status, Paint({}));
  EXPECT_NE(text.find("Incomplete: an unfinished copy (from ? here)."), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(StatusDocumentTest, HasTheSameKeysForBoth) {
  Status status = Example();
  const codec::Value snapshot = StatusDocument(status);
  status.snapshot = false;
  const codec::Value directory = StatusDocument(status);
  ASSERT_EQ(snapshot.AsObject()->size(), directory.AsObject()->size());
  for (const codec::Member& member : *snapshot.AsObject()) {
    EXPECT_NE(directory.Find(member.key), nullptr) << member.key;
  }
  EXPECT_TRUE(directory.Find("created")->IsNull());
  EXPECT_TRUE(snapshot.Find("compactedRevision")->IsNull());
}

}  // namespace
}  // namespace berth::cli
