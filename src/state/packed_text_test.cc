#include "state/packed_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::state {
namespace {

std::string TimeOf(uint32_t packed) {
  std::string out;
  AppendTime(out, packed);
  return out;
}

TEST(PackedTextTest, TimesComeBack) {
  EXPECT_EQ(PackTime("1970-01-01T00:00:00Z"), 0U);
  EXPECT_EQ(PackTime("2026-11-15T17:17:39Z"), 1'794'763'059U);
  EXPECT_EQ(PackTime("2106-02-07T06:28:15Z"), UINT32_MAX);
  EXPECT_EQ(TimeOf(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(TimeOf(951'782'399), "2000-02-28T23:59:59Z");
  EXPECT_EQ(TimeOf(951'782'400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(TimeOf(UINT32_MAX), "2106-02-07T06:28:15Z");
}

TEST(PackedTextTest, WhatIsNoTimeIsNotPacked) {
  for (const std::string_view text : {"",
                                      "2026-11-15T17:17:39",
                                      "2026-11-15T17:17:39+",
                                      "2026-11-15t17:17:39Z",
                                      "2026-11-15T17:17:39z",
                                      "2026-13-15T17:17:39Z",
                                      "2026-00-15T17:17:39Z",
                                      "2026-02-29T17:17:39Z",
                                      "2026-11-00T17:17:39Z",
                                      "2026-11-15T24:00:00Z",
                                      "2026-11-15T17:60:39Z",
                                      "2026-11-15T17:17:60Z",
                                      "1969-12-31T23:59:59Z",
                                      "2106-02-07T06:28:16Z",
                                      "9999-12-31T23:59:59Z",
                                      "202a-11-15T17:17:39Z",
                                      "2026-11-15T17:17:3:Z",
                                      "2026-11-15 17:17:39Z",
                                      "2026-11-15T17:17:39.5Z",
                                      "\xff\xff\xff\xff-11-15T17:17:39Z",
                                      "2026-11-15T17:17:\xf0\xf0Z"}) {
    EXPECT_FALSE(PackTime(text).has_value()) << text;
  }
}

RC_GTEST_PROP(PackedTextProperty, EveryTimeComesBack, (uint32_t packed)) {
  RC_ASSERT(PackTime(TimeOf(packed)) == packed);
}

/// A time with one byte changed is not packed, or is restored as it is.
RC_GTEST_PROP(PackedTextProperty, NearlyATime, (uint32_t packed, uint8_t place, char byte)) {
  std::string text = TimeOf(packed);
  text[place % text.size()] = byte;
  if (const auto again = PackTime(text)) RC_ASSERT(TimeOf(*again) == text);
}

}  // namespace
}  // namespace berth::state
