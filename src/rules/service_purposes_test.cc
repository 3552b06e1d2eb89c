// The purposes of a Service's node ports, and the ranges that a Service names.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules/service_claims.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Returns "30080@0,1 30090@hc".
std::string Purposes(const std::string& spec) {
  std::vector<std::string> words;
  const codec::Value service = Json("{'spec':{" + spec + "}}");
  for (const PortPurpose& purpose : PurposesOf(service)) {
    words.push_back(fmt::format(
        "{}@{}", purpose.number,
        purpose.IsHealthCheck() ? "hc" : fmt::format("{}", fmt::join(purpose.ports, ","))));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

TEST(Purposes, OfEachNumberTheServicePortsThatHaveIt) {
  EXPECT_EQ(Purposes("'type':'NodePort','ports':[{'port':80,'nodePort':30090},"
                     "{'port':53,'protocol':'UDP','nodePort':30080},{'port':70},"
                     "{'port':53,'protocol':'TCP','nodePort':30080}]"),
            "30080@1,3 30090@0");
  EXPECT_EQ(Purposes("'type':'LoadBalancer','externalTrafficPolicy':'Local',"
                     "'healthCheckNodePort':30001,'ports':[{'port':80,'nodePort':30090}]"),
            "30001@hc 30090@0");
}

TEST(Purposes, OnlyOfWhatIsHeld) {
  EXPECT_EQ(Purposes("'type':'ClusterIP','ports':[{'port':80,'nodePort':30090}]"), "");
  EXPECT_EQ(Purposes("'type':'ExternalName','ports':[{'port':80,'nodePort':30090}]"), "");
  EXPECT_EQ(Purposes("'type':'NodePort','ports':[{'port':80,'nodePort':99999}]"), "");
}

TEST(NamedRanges, AreSeparatedByCommas) {
  const auto names = [](const std::string& text) {
    const codec::Value service =
        Json("{'metadata':{'annotations':{'allocation.berth.io/ip-range':'" + text + "'}}}");
    std::vector<std::string> all;
    for (const std::string_view name : NamedRanges(service, kIpRangeAnnotation)) {
      all.emplace_back(name);
    }
    return all;
  };
  EXPECT_THAT(names("blue"), ElementsAre("blue"));
  EXPECT_THAT(names(" blue , green,blue"), ElementsAre("blue", "green"));
  EXPECT_THAT(names(""), IsEmpty());
  EXPECT_THAT(names(" ,, "), IsEmpty());
  EXPECT_THAT(NamedRanges(Json("{}"), kNodePortRangeAnnotation), IsEmpty());
}

}  // namespace
}  // namespace berth::rules
