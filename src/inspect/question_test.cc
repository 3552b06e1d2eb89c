#include "inspect/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace berth::inspect {
namespace {

using ::testing::HasSubstr;

/// Returns what a text means, as "value X", "range X", "name X" or "error: X".
std::string Meaning(const std::string& text) {
  const auto question = ReadQuestion(text);
  if (!question) return "error: " + question.error().message;
  if (question->value) {
    const char* kind = question->value->pool == alloc::PoolId::kPorts ? "port " : "address ";
    return kind + alloc::TextOf(*question->value);
  }
  if (question->range) return "range " + question->range->text;
  return "name " + question->name->name_space + "/" + question->name->name;
}

TEST(QuestionTest, AddressesAreReadInEveryFormThatPeoplePaste) {
  for (const char* text :
       {"10.96.0.10", "10.96.0.10:443", "10.96.0.10/32", " 10.96.0.10\n", "010.096.000.010",
        "::ffff:10.96.0.10", "174063626", "[10.96.0.10]:80"}) {
    EXPECT_EQ(Meaning(text), "address 10.96.0.10") << text;
  }
  for (const char* text :
       {"fd00::a", "[fd00::a]", "[fd00::a]:443", "fd00::a/128", "FD00:0::000A"}) {
    EXPECT_EQ(Meaning(text), "address fd00::a") << text;
  }
}

TEST(QuestionTest, PortsRangesAndNames) {
  EXPECT_EQ(Meaning("30080"), "port 30080");
  EXPECT_EQ(Meaning(":30080"), "port 30080");
  EXPECT_EQ(Meaning("10.96.0.0/16"), "range 10.96.0.0/16");
  EXPECT_EQ(Meaning("30000-32767"), "range 30000-32767");
  EXPECT_EQ(Meaning("30000+10"), "range 30000-30010");
  EXPECT_EQ(Meaning("shop/web"), "name shop/web");
  EXPECT_EQ(Meaning("web"), "name /web");
  EXPECT_EQ(Meaning("allocator.ipv4.k8s.io"), "name /allocator.ipv4.k8s.io");
  for (const char* text : {"web.shop.svc", "web.shop.svc.cluster.local", "web.shop.svc.home."}) {
    EXPECT_EQ(Meaning(text), "name shop/web") << text;
  }
}

TEST(QuestionTest, NonsenseIsAnErrorThatSaysWhatIsWanted) {
  for (const auto& [text, wanted] :
       {std::pair("", "must be an address, a port, a Service"),
        std::pair("10.96.0.999", "this is not a valid address"),
        std::pair("10.96.0", "this is not a valid address"),
        std::pair("fd00::g", "this is not a valid address"),
        std::pair("[fd00::a", "this is not a valid address"), std::pair("0", "from 1 to 65535"),
        std::pair("70000", "from 1 to 65535"), std::pair("300881", "from 1 to 65535"),
        std::pair(":70000000000000000000000000000000000000000000", "from 1 to 65535"),
        std::pair("10.96.0.1/16", "did you mean 10.96.0.0/16?"), std::pair("30100-30000", "30100"),
        std::pair("a/b/c", "must be an address"), std::pair("Shop/Web", "must be an address"),
        std::pair("a b", "must be an address"), std::pair("/", "must be an address"),
        std::pair("web/", "must be an address"), std::pair("\x1b[2J", "must be an address")}) {
    EXPECT_THAT(Meaning(text), AllOf(HasSubstr("error: \""), HasSubstr(wanted))) << text;
  }
}

}  // namespace
}  // namespace berth::inspect
