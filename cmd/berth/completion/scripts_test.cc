#include "berth/completion/scripts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::cli {
namespace {

using testing::HasSubstr;
using Kind = ValueHint::Kind;

FlagDescription Flag(std::vector<std::string> names, std::string value, std::string help,
                     ValueHint hint, bool repeats = false) {
  return {.names = std::move(names),
          .value = std::move(value),
          .help = std::move(help),
          .group = "",
          .hint = std::move(hint),
          .required = false,
          .repeats = repeats};
}

CommandDescription Small() {
  CommandDescription save{.name = "berth snap save-it",
                          .summary = "Saves",
                          .text = "",
                          .footer = "",
                          .flags = {},
                          .arguments = {{.name = "FILE",
                                         .help = "File",
                                         .hint = {.kind = Kind::kFiles, .choices = {}},
                                         .required = true,
                                         .repeats = false}},
                          .commands = {}};
  CommandDescription snap{.name = "berth snap",
                          .summary = "The ship's snapshots",
                          .text = "",
                          .footer = "",
                          .flags = {},
                          .arguments = {},
                          .commands = {save}};
  CommandDescription top{
      .name = "berth top",
      .summary = "Shows: all",
      .text = "",
      .footer = "",
      .flags = {Flag({"-o", "--output"}, "FORMAT", "It's a [format]: a or b",
                     {.kind = Kind::kChoices, .choices = {"a", "b"}}),
                Flag({"-w", "--watch"}, "", "Watch", {}),
                Flag({"--dir"}, "DIR", "C:\\x", {.kind = Kind::kFolders, .choices = {}}, true),
                Flag({"--context"}, "NAME", "Context", {.kind = Kind::kContexts, .choices = {}}),
                Flag({"--n"}, "N", "Number", {})},
      .arguments =
          {{.name = "CIDR", .help = "Range", .hint = {}, .required = true, .repeats = true}},
      .commands = {}};
  return {.name = "berth",
          .summary = "berth",
          .text = "",
          .footer = "",
          .flags = {},
          .arguments = {},
          .commands = {top, snap}};
}

TEST(CompletionScriptTest, ExistsForThreeShells) {
  EXPECT_EQ(CompletionScript(Small(), "bash"), BashScript(Small()));
  EXPECT_EQ(CompletionScript(Small(), "zsh"), ZshScript(Small()));
  EXPECT_EQ(CompletionScript(Small(), "fish"), FishScript(Small()));
  EXPECT_EQ(CompletionScript(Small(), "tcsh"), std::nullopt);
}

TEST(CompletionScriptTest, BashHasTablesOfNamesAndValues) {
  const std::string script = BashScript(Small());
  EXPECT_THAT(script, HasSubstr("'berth')\n      commands='top snap'\n      flags='' ;;\n"));
  EXPECT_THAT(script, HasSubstr("flags='-o --output -w --watch --dir --context --n' ;;\n"));
  EXPECT_THAT(script, HasSubstr("'berth top -o' | 'berth top --output') "
                                "kind=choices choices='a b' ;;\n"));
  EXPECT_THAT(script, HasSubstr("'berth top --dir') kind=folders ;;\n"));
  EXPECT_THAT(script, HasSubstr("'berth top --context') kind=contexts ;;\n"));
  EXPECT_THAT(script, HasSubstr("'berth top --n') kind=nothing ;;\n"));
  EXPECT_THAT(script, HasSubstr("'berth top '[0-9]*) kind=nothing ;;\n"));
  EXPECT_THAT(script, HasSubstr("'berth snap save-it '1) kind=files ;;\n"));
  EXPECT_EQ(script.find("--watch')"), std::string::npos) << "it takes no value";
}

TEST(CompletionScriptTest, ZshDescribesFlagsAndArguments) {
  const std::string script = ZshScript(Small());
  EXPECT_TRUE(script.starts_with("#compdef berth kubectl-berth\n"));
  EXPECT_THAT(script, HasSubstr(R"('(-o --output)'{-o+,--output=}'[It'\''s a \[format\]\: a or b])"
                                R"(:FORMAT:(a b)')"));
  EXPECT_THAT(script, HasSubstr("'(-w --watch)'{-w,--watch}'[Watch]'"));
  EXPECT_THAT(script, HasSubstr(R"('*--dir=[C\:\\x]:DIR:_files -/')"));
  EXPECT_THAT(script, HasSubstr("'(--context)--context=[Context]:NAME:_berth_contexts'"));
  EXPECT_THAT(script, HasSubstr("'*:CIDR: '"));
  EXPECT_THAT(script, HasSubstr("_berth_snap_save_it() {\n"));
  EXPECT_THAT(script, HasSubstr("'1:FILE:_files'"));
  EXPECT_THAT(script, HasSubstr(R"('top:Shows\: all')"));
  EXPECT_THAT(script, HasSubstr("save-it) _berth_snap_save_it ;;"));
}

TEST(CompletionScriptTest, FishHasALineForEachFlag) {
  const std::string script = FishScript(Small());
  EXPECT_THAT(script, HasSubstr("complete -c berth -n '__berth_is' -a top -d 'Shows: all'\n"));
  EXPECT_THAT(script, HasSubstr("-n '__berth_is' -a snap -d 'The ship\\'s snapshots'\n"));
  EXPECT_THAT(script, HasSubstr("-n '__berth_is top' -s o -l output -r -f -a 'a b' "
                                "-d 'It\\'s a [format]: a or b'\n"));
  EXPECT_THAT(script, HasSubstr("-l n -x -d 'Number'\n"));
  EXPECT_THAT(script, HasSubstr("-s w -l watch -d 'Watch'\n"));
  EXPECT_THAT(script, HasSubstr("-d 'C:\\\\x'\n"));
  EXPECT_THAT(script, HasSubstr("-n '__berth_is snap save-it' -F\n"));
}

}  // namespace
}  // namespace berth::cli
