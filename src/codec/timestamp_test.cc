#include "codec/timestamp.h"

#include <gtest/gtest.h>

namespace berth::codec {
namespace {

std::string Canonical(std::string_view text, bool micros = false) {
  const auto instant = ParseInstant(text);
  if (!instant) return instant.error().message;
  std::string out;
  AppendInstant(out, *instant, micros);
  return out;
}

TEST(Timestamp, AnyFractionAndOffsetBecomesUtc) {
  EXPECT_EQ(Canonical("2026-11-15T04:35:00Z"), "2026-11-15T04:35:00Z");
  EXPECT_EQ(Canonical("2026-11-15T04:35:00.999999999Z"), "2026-11-15T04:35:00Z");
  EXPECT_EQ(Canonical("2026-11-15T00:35:00+01:30"), "2026-11-14T23:05:00Z");
  EXPECT_EQ(Canonical("2026-12-31T23:30:00.5-01:00"), "2027-01-01T00:30:00Z");
  EXPECT_EQ(Canonical("2024-02-29T00:00:00Z"), "2024-02-29T00:00:00Z");
  EXPECT_EQ(Canonical("0000-01-01T00:00:00Z"), "0000-01-01T00:00:00Z");
  EXPECT_EQ(Canonical("9999-12-31T23:59:59Z"), "9999-12-31T23:59:59Z");
  EXPECT_EQ(Canonical("1969-12-31T23:59:59Z"), "1969-12-31T23:59:59Z");
}

TEST(Timestamp, MicrosecondsAreCutOff) {
  EXPECT_EQ(Canonical("2026-11-15T04:35:00Z", true), "2026-11-15T04:35:00.000000Z");
  EXPECT_EQ(Canonical("2026-11-15T04:35:00.1Z", true), "2026-11-15T04:35:00.100000Z");
  EXPECT_EQ(Canonical("2026-11-15T04:35:00.1234567891Z", true), "2026-11-15T04:35:00.123456Z");
}

TEST(Timestamp, FaultsInGoWords) {
  const std::string as = " as \"2006-01-02T15:04:05Z07:00\": cannot parse ";
  EXPECT_EQ(Canonical("soon"), "parsing time \"soon\"" + as + "\"soon\" as \"2006\"");
  EXPECT_EQ(Canonical(""), "parsing time \"\"" + as + "\"\" as \"2006\"");
  EXPECT_EQ(Canonical("2026-11-15"), "parsing time \"2026-11-15\"" + as + "\"\" as \"T\"");
  EXPECT_EQ(Canonical("2026-11-15T04:35:00"),
            "parsing time \"2026-11-15T04:35:00\"" + as + "\"\" as \"Z07:00\"");
  EXPECT_EQ(Canonical("2026-13-15T04:35:00Z"),
            "parsing time \"2026-13-15T04:35:00Z\": month out of range");
  EXPECT_EQ(Canonical("2026-02-29T04:35:00Z"),
            "parsing time \"2026-02-29T04:35:00Z\": day out of range");
  EXPECT_EQ(Canonical("2026-11-15T24:35:00Z"),
            "parsing time \"2026-11-15T24:35:00Z\": hour out of range");
  EXPECT_EQ(Canonical("2026-11-15T04:35:00Zz"),
            "parsing time \"2026-11-15T04:35:00Zz\": extra text: \"z\"");
  EXPECT_FALSE(ParseInstant("0000-01-01T00:00:00+01:00").has_value());
  EXPECT_FALSE(ParseInstant("9999-12-31T23:59:59-01:00").has_value());
  EXPECT_FALSE(ParseInstant("2026-11-15T04:35:00+1:00").has_value());
  EXPECT_FALSE(ParseInstant("2026-11-15T04:35:00.Z").has_value());
}

TEST(Timestamp, OfAClock) {
  const auto time = ParseTime("2026-11-15T04:35:00.123456789Z");
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(FormatTime(*time), "2026-11-15T04:35:00Z");
  EXPECT_EQ(FormatMicroTime(*time), "2026-11-15T04:35:00.123456Z");
  EXPECT_EQ(FormatMicroTime(base::WallTime(std::chrono::nanoseconds(-1))),
            "1969-12-31T23:59:59.999999Z");
  EXPECT_FALSE(ParseTime("yesterday").has_value());
  EXPECT_LT(*ParseTime("0001-01-01T00:00:00Z"), *ParseTime("1700-01-01T00:00:00Z"));
  EXPECT_GT(*ParseTime("9999-01-01T00:00:00Z"), *ParseTime("2200-01-01T00:00:00Z"));
}

}  // namespace
}  // namespace berth::codec
