#include "base/ascii.h"

#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(InLowerCase, ChangesLettersOfAsciiOnly) {
  EXPECT_EQ(InLowerCase("X-Remote-User@[9]"), "x-remote-user@[9]");
  EXPECT_EQ(InLowerCase("\xC3\x84Z"), "\xC3\x84z");
}

}  // namespace
}  // namespace berth::base
