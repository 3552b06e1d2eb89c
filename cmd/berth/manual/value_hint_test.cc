#include "berth/manual/value_hint.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace berth::cli {
namespace {

using Kind = ValueHint::Kind;
using Words = std::vector<std::string>;

Words ChoicesOf(std::string_view help) { return HintFor("--output", "FORMAT", help).choices; }

TEST(ValueHintTest, ReadsTheChoicesThatTheHelpNames) {
  EXPECT_EQ(ChoicesOf("Output format: table, json or yaml (default table)"),
            (Words{"table", "json", "yaml"}));
  EXPECT_EQ(ChoicesOf("New form: records or bitmaps"), (Words{"records", "bitmaps"}));
  EXPECT_EQ(ChoicesOf("bash, zsh or fish"), (Words{"bash", "zsh", "fish"}));
  EXPECT_EQ(ChoicesOf("Format: text or github; text by itself"), (Words{"text", "github"}));
}

TEST(ValueHintTest, TakesNoProseForChoices) {
  for (const char* help :
       {"", "Data directory", "Values in use: Services or a list; - for standard input",
        "One CIDR, or two of different families (default 10.96.0.0/16)", "Port: 80 or -1",
        "Command, such as plan or snapshot save", " or ", "a, or b"}) {
    EXPECT_EQ(ChoicesOf(help), Words{}) << help;
    EXPECT_EQ(HintFor("--output", "FORMAT", help).kind, Kind::kNothing) << help;
  }
}

TEST(ValueHintTest, KnowsFilesFoldersAndContexts) {
  EXPECT_EQ(HintFor("--used", "FILE", "Values in use").kind, Kind::kFiles);
  EXPECT_EQ(HintFor("", "PATH", "Manifests").kind, Kind::kFiles);
  EXPECT_EQ(HintFor("--data-dir", "DIR", "Data directory").kind, Kind::kFolders);
  EXPECT_EQ(HintFor("--context", "NAME", "Context of the kubeconfig").kind, Kind::kContexts);
  EXPECT_EQ(HintFor("--etcd-user", "NAME", "User name").kind, Kind::kNothing);
}

}  // namespace
}  // namespace berth::cli
