#include "base/base64.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace berth::base {
namespace {

TEST(Base64Test, WritesWhatTheStandardSays) {
  EXPECT_EQ(Base64(""), "");
  EXPECT_EQ(Base64("f"), "Zg==");
  EXPECT_EQ(Base64("fo"), "Zm8=");
  EXPECT_EQ(Base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(Base64("\xfb\xff"), "+/8=");
  EXPECT_EQ(Base64Url("\xfb\xff"), "-_8");
}

TEST(Base64Test, SaysWhereAWrongCharacterIs) {
  EXPECT_EQ(FromBase64("Zm9v!mFy").error(), 4u);
  EXPECT_EQ(FromBase64("-_8").error(), 0u);
  EXPECT_EQ(FromBase64Url("+/8=").error(), 0u);
  EXPECT_EQ(FromBase64("Zm9vY").error(), 4u) << "A single character is no byte";
}

TEST(Base64Test, ReadsBackWhatItWrote) {
  SeededRandom random(7);
  for (size_t length = 0; length < 200; ++length) {
    std::string bytes(length, '\0');
    for (char& c : bytes) c = static_cast<char>(random.Next());
    EXPECT_EQ(FromBase64(Base64(bytes)), bytes);
    EXPECT_EQ(FromBase64Url(Base64Url(bytes)), bytes);
  }
}

}  // namespace
}  // namespace berth::base
