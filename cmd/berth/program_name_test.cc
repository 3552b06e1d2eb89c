#include "berth/program_name.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

TEST(ProgramNameTest, KnowsThePluginByItsFile) {
  EXPECT_TRUE(IsPlugin("/usr/bin/kubectl-berth"));
  EXPECT_TRUE(IsPlugin("kubectl-berth"));
  EXPECT_FALSE(IsPlugin("/opt/kubectl-berth/berth"));
  EXPECT_FALSE(IsPlugin("berth"));
  EXPECT_FALSE(IsPlugin(""));
}

TEST(ProgramNameTest, SaysKubectlWhereTheCommandIsMeant) {
  EXPECT_EQ(AsPlugin("berth: bad; see berth --help"),
            "kubectl berth: bad; see kubectl berth --help");
  EXPECT_EQ(AsPlugin("Usage: berth [OPTIONS]"), "Usage: kubectl berth [OPTIONS]");
  EXPECT_EQ(AsPlugin("x | berth plan\n  berth top"), "x | kubectl berth plan\n  kubectl berth top");
  EXPECT_EQ(AsPlugin("run `berth man`"), "run `kubectl berth man`");
}

TEST(ProgramNameTest, LeavesPathsAndOtherNamesAlone) {
  for (const char* text :
       {"", "berth", "berth, an API server", "berth 0.1.0", "--data-dir /var/lib/berth --yes",
        "kubectl berth plan", "kubectl-berth plan", "berth.snap is missing", "a berth. b"}) {
    EXPECT_EQ(AsPlugin(text), text);
  }
}

}  // namespace
}  // namespace berth::cli
