#include "berth/verify/verify_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "audit/testing/audit_world.h"
#include "berth/text.h"
#include "codec/read.h"

namespace berth::cli {
namespace {

using audit::Finding;
using audit::FindingKind;
using ::testing::HasSubstr;
using ::testing::Not;

Look CleanLook() {
  return {
      .report = {.revision = 42,
                 .checked = {.services = 1'200, .values = 1'300, .records = 1'300, .ranges = 3}},
      .form = "records"};
}

void AddFinding(Look& look, Finding finding) {
  ++look.report.counts[static_cast<size_t>(finding.kind)];
  look.report.findings.push_back(std::move(finding));
}

Finding TwoOwnersOf(const std::string& address) {
  return {.kind = FindingKind::kTwoOwners,
          .value = audit::testing::Address(address),
          .owners = {{.resource = "services", .name_space = "shop", .name = "a", .uid = "1"},
                     {.resource = "services", .name_space = "shop", .name = "b", .uid = "2"}},
          .owner_count = 2,
          .message = "The address " + address + " belongs to 2 Services",
          .advice = "Decide"};
}

std::string TextOfLook(const Look& look) { return VerifyText("embedded:/data", look, Paint({})); }

TEST(VerifyTextTest, SaysWhatWasChecked) {
  EXPECT_EQ(TextOfLook(CleanLook()),
            "embedded:/data   revision 42, allocations as records\n"
            "\n"
            "  Services              1,200\n"
            "  Addresses and ports   1,300\n"
            "  Records               1,300\n"
            "  Ranges                    3\n"
            "\n"
            "Nothing is wrong\n");
}

TEST(VerifyTextTest, FitsATerminal) {
  Look look = CleanLook();
  look.form = "Services";
  look.why_not_checked = "the files do not show it";
  look.range_sources = "Ranges: addresses from ServiceCIDR kubernetes (exact), node ports assumed";
  look.not_checked = {"Records of addresses, and another text that is too long for a line"};
  AddFinding(look, {.kind = FindingKind::kTwoOwners,
                    .message = "The address 10.96.0.10 belongs to shop/a and shop/b and shop/c",
                    .advice = "Delete one of them and create it again without an address"});
  const std::string text = VerifyText("services.json", look, Paint({.utf8 = true}), {.wrap = 46});
  std::istringstream lines(text);
  bool begun = false;  // The heading and the table are narrow, or as long as their source.
  for (std::string line; std::getline(lines, line);) {
    begun = begun || line.starts_with("Ranges:");
    if (begun && line.find("TwoOwners") == std::string::npos) {
      EXPECT_LE(DisplayWidth(line), 46U) << line;
    }
  }
  EXPECT_TRUE(begun);
  EXPECT_THAT(text,
              HasSubstr("services.json   revision 42, allocations as the Services show them"));
  EXPECT_THAT(text, HasSubstr("Not checked, because the files do not show it:\n"));
  EXPECT_THAT(text, HasSubstr("    → Delete one of them and create it again\n"
                              "      without an address\n"));
}

TEST(VerifyTextTest, GroupsFindingsByKind) {
  Look look = CleanLook();
  AddFinding(look, TwoOwnersOf("10.96.0.10"));
  AddFinding(look, TwoOwnersOf("10.96.0.11"));
  AddFinding(look, {.kind = FindingKind::kUndecodable, .message = "Bad", .advice = "Delete it"});
  const std::string text = TextOfLook(look);
  EXPECT_TRUE(
      text.ends_with("\n"
                     "TwoOwners (2): two Services have the same address or port\n"
                     "  The address 10.96.0.10 belongs to 2 Services\n"
                     "    -> Decide\n"
                     "  The address 10.96.0.11 belongs to 2 Services\n"
                     "    -> Decide\n"
                     "\n"
                     "Undecodable (1): a stored value cannot be decoded\n"
                     "  Bad\n"
                     "    -> Delete it\n"
                     "\n"
                     "3 findings\n"))
      << text;
}

TEST(VerifyTextTest, ListsOnlySoMany) {
  Look look = CleanLook();
  for (size_t i = 0; i < kFindingsInText + 3; ++i) {
    AddFinding(look, {.kind = FindingKind::kOrphan, .message = "Orphan", .advice = "Wait"});
  }
  look.report.counts[static_cast<size_t>(FindingKind::kOrphan)] = 5'000;
  EXPECT_THAT(TextOfLook(look), HasSubstr("  ... and 4,980 more; -o wide lists up to 1,000 of each "
                                          "kind\n\n5,000 findings\n"));
}

TEST(VerifyTextTest, WideListsAllWithTheirObjects) {
  Look look = CleanLook();
  for (size_t i = 0; i < kFindingsInText + 3; ++i) AddFinding(look, TwoOwnersOf("10.96.0.10"));
  Finding undecodable{.kind = FindingKind::kUndecodable, .message = "Broken", .advice = "Delete"};
  undecodable.key = "/registry/\x1b";
  undecodable.object = audit::ObjectRef{.resource = "ipranges", .name = "blue"};
  AddFinding(look, undecodable);
  const std::string narrow = TextOfLook(look);
  EXPECT_THAT(narrow, HasSubstr("and 3 more"));
  EXPECT_THAT(narrow, Not(HasSubstr("uid")));
  const std::string wide = VerifyText("embedded:/data", look, Paint({}), {.wide = true});
  EXPECT_THAT(wide, Not(HasSubstr("more")));
  EXPECT_THAT(wide, HasSubstr("    Service shop/b, uid 2\n    -> "));
  EXPECT_THAT(wide, HasSubstr("  Broken\n    IPRange blue\n    key /registry/?\n    -> Delete\n"));
}

TEST(VerifyTextTest, SaysWhatItCouldNotSeeAndWhatMayPass) {
  Look look = CleanLook();
  look.not_checked = {"Bitmaps"};
  look.settling = {{.kind = FindingKind::kWrongCount, .message = "The status is behind"}};
  EXPECT_TRUE(TextOfLook(look).ends_with(
      "\n"
      "Not counted, because a server writes these by itself:\n"
      "  The status is behind\n"
      "\n"
      "Not checked, because the API does not show it:\n"
      "  Bitmaps\n"
      "    -> berth snapshot save, and berth verify --snapshot with that file\n"
      "\n"
      "Nothing is wrong\n"))
      << TextOfLook(look);
}

TEST(VerifyTextTest, StoredBytesCannotControlTheTerminal) {
  Look look = CleanLook();
  AddFinding(look, {.kind = FindingKind::kUndecodable, .message = "Key \x1b[2J", .advice = "x"});
  EXPECT_THAT(TextOfLook(look), Not(HasSubstr("\x1b")));
}

TEST(VerifyDocumentTest, HasAllKeys) {
  Look look = CleanLook();
  AddFinding(look, TwoOwnersOf("10.96.0.10"));
  const codec::Value document = VerifyDocument("embedded:/data", look);
  EXPECT_EQ(codec::StringAt(document, "source"), "embedded:/data");
  EXPECT_EQ(codec::IntAt(document, "revision"), 42);
  EXPECT_FALSE(codec::BoolAt(document, "clean"));
  EXPECT_EQ(codec::IntAt(document, "checked", "values"), 1'300);
  EXPECT_EQ(codec::IntAt(document, "counts", "TwoOwners"), 1);
  EXPECT_NE(codec::FindAt(document, "counts", "Undecodable"), nullptr);
  const codec::Value& finding = codec::ArrayAt(document, "findings").at(0);
  EXPECT_EQ(codec::StringAt(finding, "value"), "10.96.0.10");
  EXPECT_EQ(codec::ArrayAt(finding, "owners").size(), 2U);
  EXPECT_EQ(codec::StringAt(codec::ArrayAt(finding, "owners").at(1), "name"), "b");
  for (const char* key : {"object", "key", "message", "advice", "ownerCount"}) {
    EXPECT_NE(codec::FindAt(finding, key), nullptr) << key;
  }
}

TEST(VerifyDocumentTest, ARevisionThatIsNotKnownIsNull) {
  Look look = CleanLook();
  look.report.revision = 0;
  const codec::Value document = VerifyDocument("https://10.0.0.1", look);
  ASSERT_NE(document.Find("revision"), nullptr);
  EXPECT_TRUE(document.Find("revision")->IsNull());
}

}  // namespace
}  // namespace berth::cli
