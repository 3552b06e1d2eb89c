#include "base/packed_uuid.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace berth::base {
namespace {

TEST(PackedUuidTest, UuidsComeBack) {
  constexpr std::string_view kText = "c0ffee00-0123-4567-89ab-cdef00ff0180";
  const auto packed = PackUuid(kText);
  ASSERT_TRUE(packed.has_value());
  std::string out = "> ";
  AppendUuid(out, *packed);
  EXPECT_EQ(out, "> " + std::string(kText));
}

TEST(PackedUuidTest, WhatIsNoUuidIsNotPacked) {
  for (const std::string_view text :
       {"", "c0ffee00-0123-4567-89ab-cdef00ff018", "c0ffee00-0123-4567-89ab-cdef00ff01800",
        "C0ffee00-0123-4567-89ab-cdef00ff0180", "c0ffee00-0123-4567-89ab-cdef00ff018F",
        "c0ffee0g-0123-4567-89ab-cdef00ff0180", "c0ffee0-00123-4567-89ab-cdef00ff0180",
        "c0ffee00x0123-4567-89ab-cdef00ff0180", "c0ffee00-0123-4567-89abxcdef00ff0180",
        "------------------------------------", "c0ffee00-0123-4567-89ab cdef00ff0180"}) {
    EXPECT_FALSE(PackUuid(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace berth::base
