#include "berth/terminal.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

TEST(FitToScreen, LeavesAShortTextAlone) {
  EXPECT_EQ(FitToScreen("a\nb\nc\n", {.rows = 4, .columns = 80}), "a\nb\nc\n");
}

TEST(FitToScreen, SaysHowMuchIsLeftOut) {
  EXPECT_EQ(FitToScreen("a\nb\nc\nd\n", {.rows = 4, .columns = 80}),
            "a\nb\n... 2 more lines, which are shown without --watch\n");
  EXPECT_EQ(FitToScreen("a\nb\nc\nd\n", {.rows = 4, .columns = 12}), "a\nb\n... 2 more l\n");
}

TEST(FitToScreen, CountsTheRowsOfWideLines) {
  EXPECT_EQ(FitToScreen("12345678901\nb\nc\n", {.rows = 4, .columns = 10}),
            "12345678901\n... 2 more\n");
  // Colours take no room.
  const std::string colored = "\033[31m1234567890\033[0m\nb\nc\n";
  EXPECT_EQ(FitToScreen(colored, {.rows = 4, .columns = 10}), colored);
}

}  // namespace
}  // namespace berth::cli
