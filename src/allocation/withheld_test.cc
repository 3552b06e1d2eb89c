// Reservations that no Service can redeem, and which clients get a warning.
#include "allocation/withheld.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kForWeb = "'reservedFor':{'namespace':'shop','name':'web'}";
constexpr const char* kNine = "168230921";  // 10.7.0.9

class WithheldTest : public allocation::testing::RegistryTest {
 protected:
  registry::Target Range(std::string name = "") const {
    return At("allocation.berth.io/ipranges", "", std::move(name));
  }
  registry::Target PortRange(std::string name = "") const {
    return At("allocation.berth.io/nodeportranges", "", std::move(name));
  }
  void MakeBlue(const std::string& more) {
    Must(
        Create(Range(), "{'metadata':{'name':'blue'},'spec':{'range':'10.7.0.0/24'" + more + "}}"));
  }
  base::Result<registry::Outcome> ChangeBlue(const std::string& more,
                                             const registry::CommonOptions& options = {}) {
    return Update(Range("blue"),
                  "{'metadata':{'name':'blue'},'spec':{'range':'10.7.0.0/24'" + more + "}}",
                  registry::Door::kMain, options);
  }
  std::vector<std::string> Reserve(const std::string& name, const std::string& spec) {
    return Must(Create(At("allocation.berth.io/ipaddresses", "", ""),
                       "{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}"))
        .warnings;
  }
  base::Result<registry::Outcome> Serve(const std::string& spec) {
    return Create(Service(""),
                  "{'metadata':{'name':'web'},'spec':{" + spec + "'ports':[{'port':80}]}}");
  }
};

TEST_F(WithheldTest, OfADisabledRange) {
  MakeBlue(",'disabled':true");
  EXPECT_THAT(Reserve(kNine, kForWeb),
              ElementsAre("10.7.0.9 lies in the range \"blue\", which is disabled: no Service can "
                          "take it until that changes"));
  EXPECT_THAT(Text(Serve("'clusterIP':'10.7.0.9',")), HasSubstr("which is disabled"));
  const registry::Outcome other = Must(Serve(""));
  EXPECT_NE(codec::StringAt(Show(Service("web"), *other.written.object), "spec", "clusterIP"),
            "10.7.0.9")
      << "who asks for any gets another one";
  Must(Delete(Service("web")));
  Must(ChangeBlue(""));
  const registry::Outcome made = Must(Serve(""));
  EXPECT_EQ(codec::StringAt(Show(Service("web"), *made.written.object), "spec", "clusterIP"),
            "10.7.0.9");
}

TEST_F(WithheldTest, OfAnExcludedValue) {
  MakeBlue(",'excluded':['10.7.0.8/30']");
  EXPECT_THAT(Reserve(kNine, kForWeb),
              ElementsAre("10.7.0.9 is excluded from the range \"blue\": no Service can take it "
                          "until that changes"));
  EXPECT_THAT(Text(Serve("'clusterIP':'10.7.0.9',")), HasSubstr("excluded from the range"));
}

TEST_F(WithheldTest, NotIfAnotherRangeGivesItOut) {
  MakeBlue(",'disabled':true");
  Must(Create(Range(), "{'metadata':{'name':'wide'},'spec':{'range':'10.7.0.0/16'}}"));
  EXPECT_THAT(Reserve(kNine, kForWeb), IsEmpty());
  EXPECT_EQ(Text(Serve("'clusterIP':'10.7.0.9',")).substr(0, 7), "created");
}

TEST_F(WithheldTest, NotIfItIsForNobody) {
  MakeBlue(",'disabled':true");
  EXPECT_THAT(Reserve(kNine, ""), IsEmpty());
}

TEST_F(WithheldTest, OfAPort) {
  Must(Create(PortRange(),
              "{'metadata':{'name':'web'},'spec':{'range':'8000-8100','excluded':['8080']}}"));
  EXPECT_THAT(Must(Create(At("allocation.berth.io/nodeports", "", ""),
                          std::string("{'metadata':{'name':'8080'},'spec':{") + kForWeb + "}}"))
                  .warnings,
              ElementsAre("8080 is excluded from the range \"web\": no Service can take it until "
                          "that changes"));
}

TEST_F(WithheldTest, WhoDisablesARangeIsTold) {
  MakeBlue("");
  for (int i = 0; i < 7; ++i)
    EXPECT_THAT(Reserve(std::to_string(168230921 + i), kForWeb), IsEmpty());
  const std::string text =
      "no Service can take what is reserved for it here until that changes: 10.7.0.9 (shop/web), "
      "10.7.0.10 (shop/web), 10.7.0.11 (shop/web), 10.7.0.12 (shop/web), 10.7.0.13 (shop/web) and "
      "2 more";
  EXPECT_THAT(Must(ChangeBlue(",'disabled':true", {.dry_run = true})).warnings, ElementsAre(text));
  EXPECT_THAT(Must(ChangeBlue(",'disabled':true")).warnings, ElementsAre(text));
  EXPECT_THAT(Must(ChangeBlue(",'disabled':true,'priority':3")).warnings, IsEmpty())
      << "it was so before";
  EXPECT_THAT(Must(ChangeBlue("")).warnings, IsEmpty());
}

TEST_F(WithheldTest, WhoExcludesAValueIsTold) {
  MakeBlue("");
  Reserve(kNine, kForWeb);
  Reserve("168230930", kForWeb);  // 10.7.0.18
  Reserve("168230922", "");       // 10.7.0.10, for no Service
  EXPECT_THAT(Must(ChangeBlue(",'excluded':['10.7.0.8/29']")).warnings,
              ElementsAre("no Service can take what is reserved for it here until that changes: "
                          "10.7.0.9 (shop/web)"));
}

TEST_F(WithheldTest, WhatAServiceHasItHas) {
  MakeBlue("");
  Reserve(kNine, kForWeb);
  Must(Serve(""));
  EXPECT_THAT(Must(ChangeBlue(",'disabled':true")).warnings, IsEmpty());
}

}  // namespace
}  // namespace berth::allocation
