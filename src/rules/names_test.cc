#include "rules/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <regex>
#include <string>

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

const std::string kLong(64, 'a');

TEST(Names, DnsLabel) {
  for (const char* good : {"a", "1web", "a-b", "0"}) {
    EXPECT_THAT(Dns1123LabelProblems(good), IsEmpty()) << good;
  }
  EXPECT_THAT(Dns1123LabelProblems(std::string(63, 'a')), IsEmpty());
  constexpr const char* kMessage =
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
      "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex "
      "used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
  for (const char* bad : {"", "Web", "-a", "a-", "a_b", "a.-b", "\xc3\xa9"}) {
    EXPECT_THAT(Dns1123LabelProblems(bad), ElementsAre(kMessage)) << bad;
  }
  EXPECT_THAT(Dns1123LabelProblems("a.b"), ElementsAre("must not contain dots"));
  EXPECT_THAT(Dns1123LabelProblems(kLong), ElementsAre("must be no more than 63 characters"));
  EXPECT_THAT(Dns1123LabelProblems(kLong + "."),
              ElementsAre("must be no more than 63 characters", kMessage));
}

TEST(Names, DnsSubdomain) {
  EXPECT_THAT(Dns1123SubdomainProblems("a.b-c.1"), IsEmpty());
  EXPECT_THAT(Dns1123SubdomainProblems("a..b"),
              ElementsAre("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                          "characters, '-' or '.', and must start and end with an alphanumeric "
                          "character (e.g. 'example.com', regex used for validation is "
                          "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"));
  EXPECT_THAT(Dns1123SubdomainProblems(std::string(254, 'a')),
              ElementsAre("must be no more than 253 characters"));
}

TEST(Names, Dns1035Label) {
  EXPECT_THAT(Dns1035LabelProblems("a1"), IsEmpty());
  EXPECT_THAT(Dns1035LabelProblems("1a"),
              ElementsAre("a DNS-1035 label must consist of lower case alphanumeric characters or "
                          "'-', start with an alphabetic character, and end with an alphanumeric "
                          "character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
                          "'[a-z]([-a-z0-9]*[a-z0-9])?')"));
  EXPECT_THAT(Dns1035LabelProblems(kLong), ElementsAre("must be no more than 63 characters"));
}

TEST(Names, QualifiedName) {
  constexpr const char* kName =
      "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
      "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
      "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
  for (const char* good : {"a", "A.b_c-D", "example.com/MyName"}) {
    EXPECT_THAT(QualifiedNameProblems(good), IsEmpty()) << good;
  }
  EXPECT_THAT(QualifiedNameProblems(""), ElementsAre("name part must be non-empty", kName));
  EXPECT_THAT(QualifiedNameProblems("bad key"), ElementsAre(kName));
  EXPECT_THAT(QualifiedNameProblems(kLong), ElementsAre("name part must be no more than 63 bytes"));
  EXPECT_THAT(QualifiedNameProblems("/x"), ElementsAre("prefix part must be non-empty"));
  EXPECT_THAT(QualifiedNameProblems("UPPER.com/x"),
              ElementsAre(StartsWith("prefix part a lowercase RFC 1123 subdomain must consist")));
  EXPECT_THAT(QualifiedNameProblems(std::string(254, 'a') + "/x"),
              ElementsAre("prefix part must be no more than 253 bytes"));
  EXPECT_THAT(
      QualifiedNameProblems("a/b/c"),
      ElementsAre("a valid label key must consist of alphanumeric characters, '-', '_' or '.', and "
                  "must start and end with an alphanumeric character (e.g. 'MyName',  or "
                  "'my.name',  or '123-abc', regex used for validation is "
                  "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain "
                  "prefix and '/' (e.g. 'example.com/MyName')"));
}

TEST(Names, LabelValue) {
  EXPECT_THAT(LabelValueProblems(""), IsEmpty());
  EXPECT_THAT(LabelValueProblems("my_Value.1"), IsEmpty());
  EXPECT_THAT(
      LabelValueProblems("bad value"),
      ElementsAre("a valid label must be an empty string or consist of alphanumeric characters, "
                  "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
                  "'MyValue',  or 'my_value',  or '12345', regex used for validation is "
                  "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"));
  EXPECT_THAT(LabelValueProblems(kLong), ElementsAre("must be no more than 63 bytes"));
}

TEST(Names, PortName) {
  EXPECT_THAT(PortNameProblems("http-2"), IsEmpty());
  EXPECT_THAT(PortNameProblems("-a"), ElementsAre("must not begin or end with a hyphen"));
  EXPECT_THAT(PortNameProblems("a-"), ElementsAre("must not begin or end with a hyphen"));
  EXPECT_THAT(PortNameProblems("12345"), ElementsAre("must contain at least one letter (a-z)"));
  EXPECT_THAT(PortNameProblems("a--b"), ElementsAre("must not contain consecutive hyphens"));
  EXPECT_THAT(
      PortNameProblems("bad_name"),
      ElementsAre("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)"));
  EXPECT_THAT(PortNameProblems("toolongportname16"),
              ElementsAre("must be no more than 15 characters"));
}

TEST(Names, PortNumber) {
  EXPECT_THAT(PortNumberProblems(1), IsEmpty());
  EXPECT_THAT(PortNumberProblems(65535), IsEmpty());
  for (const int64_t bad : {int64_t{0}, int64_t{-1}, int64_t{65536}}) {
    EXPECT_THAT(PortNumberProblems(bad), ElementsAre("must be between 1 and 65535, inclusive"));
  }
}

TEST(Names, PathSegment) {
  EXPECT_THAT(PathSegmentProblems("Bad_Name", false), IsEmpty());
  EXPECT_THAT(PathSegmentProblems(".", false), ElementsAre("may not be '.'"));
  EXPECT_THAT(PathSegmentProblems("..", false), ElementsAre("may not be '..'"));
  EXPECT_THAT(PathSegmentProblems("..", true), IsEmpty());
  EXPECT_THAT(PathSegmentProblems("a/b%c", false),
              ElementsAre("may not contain '/'", "may not contain '%'"));
}

TEST(Names, ADashEndsAGenerateName) {
  EXPECT_THAT(NameIsDnsLabel("web-", true), IsEmpty());
  EXPECT_THAT(NameIsDnsLabel("web-", false), testing::SizeIs(1));
  EXPECT_THAT(NameIsDnsLabel("-", true), testing::SizeIs(1));
  EXPECT_THAT(NameIsDnsSubdomain("a.b-", true), IsEmpty());
  EXPECT_THAT(NameIsDns1035Label("web-", true), IsEmpty());
  EXPECT_THAT(NameIsDnsLabel(std::string(63, 'a'), true), IsEmpty());
  EXPECT_THAT(NameIsDnsLabel(std::string(80, 'a'), true), testing::SizeIs(1));
}

TEST(Names, GeneratedNamesFitALabel) {
  EXPECT_EQ(GeneratedName("web-", "bcdfg"), "web-bcdfg");
  EXPECT_EQ(GeneratedName(std::string(60, 'a'), "bcdfg"), std::string(58, 'a') + "bcdfg");
}

/// Generates texts that are often, but not always, names.
rc::Gen<std::string> NearlyName() {
  return rc::gen::container<std::string>(
      rc::gen::element('a', 'z', '0', '9', '-', '.', '_', '/', 'A', 'Z', ' ', '\n'));
}

RC_GTEST_PROP(Names, AgreeWithTheExpressionsInTheirMessages, ()) {
  const std::string text = *NearlyName();
  static const std::regex label("[a-z0-9]([-a-z0-9]*[a-z0-9])?");
  static const std::regex subdomain(
      R"([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*)");
  static const std::regex dns1035("[a-z]([-a-z0-9]*[a-z0-9])?");
  static const std::regex value("(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?");
  static const std::regex qualified(
      R"(([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?)"
      R"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])");
  RC_PRE(text.size() <= 63);
  RC_ASSERT(Dns1123LabelProblems(text).empty() == std::regex_match(text, label));
  RC_ASSERT(Dns1123SubdomainProblems(text).empty() == std::regex_match(text, subdomain));
  RC_ASSERT(Dns1035LabelProblems(text).empty() == std::regex_match(text, dns1035));
  RC_ASSERT(LabelValueProblems(text).empty() == std::regex_match(text, value));
  RC_ASSERT(QualifiedNameProblems(text).empty() == std::regex_match(text, qualified));
}

}  // namespace
}  // namespace berth::rules
