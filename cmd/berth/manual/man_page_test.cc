#include "berth/manual/man_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

CommandDescription Harbour() {
  CommandDescription load{
      .name = "harbour load",
      .summary = "Loads a ship",
      .text = "It's quick.\n.hidden files too.\n\nkinds of cargo:\nbulk: in heaps\nboxed: in boxes",
      .footer =
          "See C:\\ports.\n\nExamples:\n  harbour load --to ~/ship \\\n    \"all\"\n\n  harbour "
          "load\n\n"
          "Exit status: 0 if loaded, 1 if it sank.",
      .flags = {{.names = {"-o", "--output"},
                 .value = "FORMAT",
                 .help = "Format – or none",
                 .group = "",
                 .hint = {},
                 .required = false,
                 .repeats = false},
                {.names = {"--to"},
                 .value = "SHIP",
                 .help = "Ship",
                 .group = "The \"other\" flags",
                 .hint = {},
                 .required = true,
                 .repeats = false}},
      .arguments =
          {{.name = "CARGO", .help = "Cargo", .hint = {}, .required = true, .repeats = true}},
      .commands = {}};
  CommandDescription unload{.name = "harbour unload",
                            .summary = "Unloads a ship",
                            .text = "",
                            .footer = "",
                            .flags = {},
                            .arguments = {},
                            .commands = {}};
  return {.name = "harbour",
          .summary = "harbour, a place for ships",
          .text = "",
          .footer = "",
          .flags = {},
          .arguments = {},
          .commands = {load, unload}};
}

std::string PageOfLoad() {
  const CommandDescription program = Harbour();
  return ManPage(program, program.commands.front(), "1.2.3");
}

TEST(ManPageTest, EscapesWhatTroffWouldInterpret) {
  EXPECT_EQ(TroffEscaped("a-b"), "a\\-b");
  EXPECT_EQ(TroffEscaped("C:\\n"), "C:\\(rsn");
  EXPECT_EQ(TroffEscaped(".so /etc/passwd"), "\\&.so /etc/passwd");
  EXPECT_EQ(TroffEscaped("a\n'b\n.c\nd.e"), "a\n\\&\\(aqb\n\\&.c\nd.e");
  EXPECT_EQ(TroffEscaped("`\"^~"), "\\(ga\\(dq\\(ha\\(ti");
  EXPECT_EQ(TroffEscaped("–é😀"), "\\[u2013]\\[u00E9]\\[u1F600]");
  EXPECT_EQ(TroffEscaped("\xff|\xe2\x80"), "\\[uFFFD]|\\[uFFFD]\\[uFFFD]");
}

TEST(ManPageTest, HasTheNameAndTheSynopsis) {
  const std::string page = PageOfLoad();
  EXPECT_TRUE(page.starts_with(".TH \"HARBOUR\\-LOAD\" 1 \"\" \"Berth 1.2.3\"")) << page;
  EXPECT_THAT(page, HasSubstr(".SH NAME\nharbour\\-load \\- loads a ship\n"));
  EXPECT_THAT(page, HasSubstr(".SH SYNOPSIS\n\\fBharbour load\\fR \\fB\\-\\-to\\fR \\fISHIP\\fR "
                              "[\\fIOPTION\\fR]... \\fICARGO\\fR...\n"));
  const CommandDescription program = Harbour();
  EXPECT_THAT(ManPage(program, program, "1"), HasSubstr(".SH NAME\nharbour \\- a place for ships"));
}

TEST(ManPageTest, KeepsParagraphsAndTerms) {
  const std::string page = PageOfLoad();
  EXPECT_THAT(page, HasSubstr(".PP\nIt\\(aqs quick.\n\\&.hidden files too.\n.PP\n"));
  EXPECT_THAT(page, HasSubstr(".br\nbulk: in heaps\n.br\nboxed: in boxes\n"));
  EXPECT_THAT(page, HasSubstr(".PP\nSee C:\\(rsports.\n"));
}

TEST(ManPageTest, ListsFlagsInTheirGroups) {
  const std::string page = PageOfLoad();
  EXPECT_THAT(page, HasSubstr(".SH OPTIONS\n.TP\n\\fB\\-o\\fR \\fIFORMAT\\fR, \\fB\\-\\-output\\fR "
                              "\\fIFORMAT\\fR\nFormat \\[u2013] or none\n"));
  EXPECT_THAT(page, HasSubstr(".SS \"The \\(dqother\\(dq flags\"\n.TP\n\\fB\\-\\-to\\fR"));
}

TEST(ManPageTest, TakesExamplesAndExitStatusFromTheFooter) {
  const std::string page = PageOfLoad();
  EXPECT_THAT(page, HasSubstr(".nf\nharbour load \\-\\-to \\(ti/ship \\(rs\n  \\(dqall\\(dq\n"
                              ".sp\nharbour load\n.fi\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\n0 if loaded, 1 if it sank.\n"));
  const CommandDescription program = Harbour();
  const std::string other = ManPage(program, program.commands.back(), "1");
  EXPECT_THAT(other, HasSubstr(".SH EXIT STATUS\n0 for success"));
  EXPECT_THAT(other, Not(HasSubstr(".SH EXAMPLES")));
  EXPECT_THAT(other, HasSubstr(".SH DESCRIPTION\n.PP\nUnloads a ship.\n"));
}

TEST(ManPageTest, NamesThePagesAroundIt) {
  EXPECT_TRUE(
      PageOfLoad().ends_with(".SH SEE ALSO\n\\fBharbour\\fR(1),\n\\fBharbour\\-unload\\fR(1)\n"));
  const CommandDescription program = Harbour();
  const std::string page = ManPage(program, program, "1");
  EXPECT_TRUE(
      page.ends_with(".SH SEE ALSO\n\\fBharbour\\-load\\fR(1),\n\\fBharbour\\-unload\\fR(1)\n"));
  EXPECT_THAT(page, HasSubstr(".SH COMMANDS\n.TP\n\\fBharbour\\-load\\fR(1)\nLoads a ship\n"));
}

}  // namespace
}  // namespace berth::cli
