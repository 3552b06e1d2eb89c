// The status that a range is written with. It matches the new spec in the answer to the change
// itself and in everything that is read after it.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "allocation/testing/form_stack.h"
#include "allocation/testing/registry_stack.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;

constexpr const char* kFirstRange = "allocator.ipv4.k8s.io";

/// Returns "True Ready", or an empty string if there is no such condition.
std::string Condition(const codec::Value& object, std::string_view type,
                      std::string_view second = "reason") {
  for (const codec::Value& condition : codec::ArrayAt(object, "status", "conditions")) {
    if (codec::StringAt(condition, "type") != type) continue;
    return std::string(codec::StringAt(condition, "status")) + " " +
           std::string(codec::StringAt(condition, second));
  }
  return "";
}

/// Returns "14 = 12 free, 1 used, 1 reserved, 0 cooling", for the present spec.
std::string Counts(const codec::Value& range) {
  const int64_t seen = codec::IntAt(range, "status", "observedGeneration");
  if (seen != codec::IntAt(range, "metadata", "generation")) {
    return "of generation " + std::to_string(seen);
  }
  std::string text(codec::StringAt(range, "status", "total"));
  const char* separator = " = ";
  for (const char* count : {"free", "used", "reserved", "cooling"}) {
    text += separator + std::to_string(codec::IntAt(range, "status", count)) + " " + count;
    separator = ", ";
  }
  return text;
}

template <typename Base>
class WithRanges : public Base {
 protected:
  registry::Target Range(std::string name = "") const {
    return this->At("allocation.berth.io/ipranges", "", std::move(name));
  }
  registry::Target Ports(std::string name = "") const {
    return this->At("allocation.berth.io/nodeportranges", "", std::move(name));
  }
  registry::Target Cidr(std::string name = "") const {
    return this->At("networking.k8s.io/servicecidrs", "", std::move(name));
  }
  static std::string Body(const std::string& name, const std::string& spec) {
    return "{'metadata':{'name':'" + name + "'},'spec':{" + spec + "}}";
  }
  /// Returns the answer, which must be the same as what is read from then on.
  codec::Value Answer(const registry::Target& target,
                      const base::Result<registry::Outcome>& outcome) {
    EXPECT_TRUE(outcome) << Text(outcome);
    if (!outcome) return codec::Object();
    const codec::Value answer = this->Show(target, *outcome->written.object);
    EXPECT_EQ(*this->Get(target), answer);
    return answer;
  }
  codec::Value Make(const std::string& name, const std::string& spec) {
    return Answer(Range(name), this->Create(Range(), Body(name, spec)));
  }
  codec::Value Change(const std::string& name, const std::string& spec) {
    return Answer(Range(name), this->Update(Range(name), Body(name, spec)));
  }
  void Serve(const std::string& name, const std::string& address) {
    this->Must(this->Create(this->Service(""),
                            Body(name, "'clusterIP':'" + address + "','ports':[{'port':80}]")));
  }
};

class RangeCountsTest : public WithRanges<allocation::testing::RegistryTest> {};

TEST_F(RangeCountsTest, ANewRangeHasAStatus) {
  const codec::Value made = Make("a", "'range':'10.50.0.0/28'");
  EXPECT_EQ(Counts(made), "14 = 14 free, 0 used, 0 reserved, 0 cooling");
  EXPECT_EQ(Condition(made, "Ready"), "True Ready");
  EXPECT_EQ(Condition(made, "Ready", "lastTransitionTime"),
            std::string("True ") + allocation::testing::kStart);
  EXPECT_EQ(Condition(made, "Overlapping"), "False Alone");
  EXPECT_EQ(codec::StringAt(made, "status", "bands", "dynamic", "last"), "10.50.0.14");
  EXPECT_EQ(Condition(Make("b", "'range':'10.50.0.0/24'"), "Overlapping"), "True SharedValues");
}

TEST_F(RangeCountsTest, WhatIsHeldOfANewRangeIsCountedAtOnce) {
  Make("a", "'range':'10.50.0.0/24','coolDownSeconds':60");
  for (const char* last : {"1", "2", "3", "20"}) {
    Serve(std::string("s") + last, std::string("10.50.0.") + last);
  }
  Must(Delete(Service("s3")));
  Must(Create(At("allocation.berth.io/ipaddresses", "", ""),
              "{'metadata':{'name':'171048964'}}"));  // 10.50.0.4
  EXPECT_EQ(Counts(Make("b", "'range':'10.50.0.0/28'")),
            "14 = 10 free, 2 used, 1 reserved, 1 cooling");
}

TEST_F(RangeCountsTest, ALargerAndASmallerOne) {
  Make("a", "'range':'10.50.0.0/28'");
  Serve("one", "10.50.0.3");
  const int64_t before = Revision();
  EXPECT_EQ(Counts(Change("a", "'range':'10.50.0.0/24'")),
            "254 = 253 free, 1 used, 0 reserved, 0 cooling");
  EXPECT_EQ(Revision() - before, 3) << "the range and the fences of both families";
  EXPECT_EQ(Counts(Change("a", "'range':'10.50.0.0/27'")),
            "30 = 29 free, 1 used, 0 reserved, 0 cooling");
}

TEST_F(RangeCountsTest, OneThatIsDisabledAndEnabled) {
  Make("a", "'range':'10.50.0.0/28'");
  Serve("one", "10.50.0.3");
  store_.clock.Advance(std::chrono::seconds(5));
  const codec::Value drained = Change("a", "'range':'10.50.0.0/28','disabled':true");
  EXPECT_EQ(Condition(drained, "Ready"), "False Draining");
  EXPECT_EQ(Condition(drained, "Ready", "lastTransitionTime"), "False 2026-11-15T04:35:05Z");
  EXPECT_EQ(Condition(drained, "Exhausted", "lastTransitionTime"),
            std::string("False ") + allocation::testing::kStart)
      << "it is as it was";
  EXPECT_EQ(Condition(drained, "Draining"), "True Draining");
  EXPECT_EQ(Counts(drained), "14 = 13 free, 1 used, 0 reserved, 0 cooling");
  EXPECT_EQ(Condition(Change("a", "'range':'10.50.0.0/28'"), "Ready"), "True Ready");
}

TEST_F(RangeCountsTest, ExclusionsAndBands) {
  Make("a", "'range':'10.50.0.0/28'");
  Serve("one", "10.50.0.3");
  EXPECT_EQ(Counts(Change("a", "'range':'10.50.0.0/28','excluded':['10.50.0.8/29']")),
            "7 = 6 free, 1 used, 0 reserved, 0 cooling");
  const codec::Value banded = Change("a", "'range':'10.50.0.0/28','staticBand':14,'strict':true");
  EXPECT_EQ(codec::IntAt(banded, "status", "bands", "static", "used"), 1);
  EXPECT_EQ(codec::FindAt(banded, "status", "bands", "dynamic"), nullptr);
  EXPECT_EQ(Condition(banded, "Exhausted"), "True Exhausted");
}

TEST_F(RangeCountsTest, ASpecThatSaysTheSameInOtherWords) {
  Make("a", "'range':'10.50.0.0/28'");
  EXPECT_EQ(Counts(Change("a", "'range':'10.50.0.0/28','priority':0")),
            "14 = 14 free, 0 used, 0 reserved, 0 cooling");
}

TEST_F(RangeCountsTest, WhatElseIsWrittenWithIt) {
  Make(kFirstRange, "'range':'10.96.0.0/16','primary':true");
  Serve("one", "10.96.0.3");
  Make("six", "'range':'fd00::/112','primary':true");
  const codec::Value was_primary = *Get(Range(kFirstRange));
  EXPECT_EQ(codec::IntAt(was_primary, "metadata", "generation"), 2);
  EXPECT_EQ(Counts(was_primary), "65534 = 65533 free, 1 used, 0 reserved, 0 cooling");

  Must(Update(Cidr("kubernetes"), Body("kubernetes", "'cidrs':['10.96.0.0/16','fd00:96::/120']")));
  const codec::Value second = *Get(Range("allocator.ipv6.k8s.io"));
  EXPECT_EQ(Counts(second), "255 = 255 free, 0 used, 0 reserved, 0 cooling");
  EXPECT_EQ(Condition(second, "Ready"), "True Ready");
}

TEST_F(RangeCountsTest, TheServiceCidrSaysWhetherItCanServeFromItsNewRange) {
  Make(kFirstRange, "'range':'10.96.0.0/16','primary':true");
  Must(Update(Cidr("kubernetes"),
              "{'metadata':{'name':'kubernetes'},'spec':{'cidrs':['10.96.0.0/16']},'status':"
              "{'conditions':[{'type':'Ready','status':'False','reason':'NoUsableAddress',"
              "'message':'','lastTransitionTime':'2026-11-15T04:00:00Z'}]}}",
              registry::Door::kStatus));
  Change(kFirstRange, "'range':'10.96.0.0/15','primary':true");
  EXPECT_EQ(Condition(*Get(Cidr("kubernetes")), "Ready"), "True ");
}

TEST_F(RangeCountsTest, Ports) {
  Must(
      Create(Service(""), Body("web", "'type':'NodePort','ports':[{'port':80,'nodePort':30080}]")));
  const auto answer = [&](const std::string& spec) {
    return Answer(
        Ports("allocator.nodeport.k8s.io"),
        Update(Ports("allocator.nodeport.k8s.io"), Body("allocator.nodeport.k8s.io", spec)));
  };
  EXPECT_EQ(Counts(answer("'range':'30000-30099'")),
            "100 = 99 free, 1 used, 0 reserved, 0 cooling");
  EXPECT_EQ(Condition(answer("'range':'30000-30099','disabled':true"), "Ready"), "False Draining");
}

TEST_F(RangeCountsTest, ADryRunShowsTheSame) {
  Make("a", "'range':'10.50.0.0/28'");
  const auto dry = Update(Range("a"), Body("a", "'range':'10.50.0.0/24'"), registry::Door::kMain,
                          {.dry_run = true});
  ASSERT_TRUE(dry);
  EXPECT_EQ(codec::StringAt(Show(Range("a"), *dry->written.object), "status", "total"), "254");
  EXPECT_EQ(codec::StringAt(*Get(Range("a")), "status", "total"), "14");
  const auto made = Create(Range(), Body("b", "'range':'10.51.0.0/24'"), {.dry_run = true});
  ASSERT_TRUE(made);
  EXPECT_EQ(Condition(Show(Range("b"), *made->written.object), "Ready"), "True Ready");
}

TEST_F(RangeCountsTest, OneThatFinalizersKeepIsTerminating) {
  Must(Create(Range(),
              "{'metadata':{'name':'a','finalizers':['example.com/wait']},"
              "'spec':{'range':'10.50.0.0/28'}}"));
  Must(Delete(Range("a")));
  EXPECT_EQ(Condition(*Get(Range("a")), "Terminating"), "True Deleted");
  EXPECT_EQ(Condition(*Get(Range("a")), "Ready"), "False Terminating");
}

TEST_F(RangeCountsTest, WhatAClientSaysOfTheStatusDoesNotCount) {
  Must(Create(Range(),
              "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'},'status':{'total':'9'}}"));
  EXPECT_EQ(codec::StringAt(*Get(Range("a")), "status", "total"), "14");
  Must(Update(Range("a"),
              "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/27'},'status':{'total':'9'}}"));
  EXPECT_EQ(codec::StringAt(*Get(Range("a")), "status", "total"), "30");
}

/// The same is true of a status that is written later.
TEST_F(RangeCountsTest, TheServerOwnsTheStatus) {
  Must(Create(Range(), Body("a", "'range':'10.50.0.0/28'"), {.manager = "somebody"}));
  const codec::Value range = *Get(Range("a"));
  std::string owners;
  for (const codec::Value& entry : codec::ArrayAt(range, "metadata", "managedFields")) {
    owners += std::string(codec::StringAt(entry, "manager")) + "/" +
              std::string(codec::StringAt(entry, "subresource")) + " ";
  }
  EXPECT_EQ(owners, "berth/status somebody/ ");
}

class RangeCountsInBitmapsTest : public WithRanges<testing::FormsTest> {};

TEST_F(RangeCountsInBitmapsTest, WhatBitmapsHaveNoRoomForSaysSo) {
  BeginWith(AllocationForm::kBitmaps);
  const registry::CommonOptions first{.bootstraps = true};
  Must(Create(Range(), Body(kFirstRange, "'range':'10.96.0.0/16','primary':true"), first));
  EXPECT_EQ(Condition(*Get(Range(kFirstRange)), "Ready"), "True Ready");
  EXPECT_EQ(codec::StringAt(*Get(Range(kFirstRange)), "status", "total"), "65534");
  Must(Create(Range(), Body("more", "'range':'10.97.0.0/24'"), first));
  EXPECT_EQ(Condition(*Get(Range("more")), "Ready"), "False NotInForce");
  EXPECT_EQ(codec::StringAt(*Get(Range("more")), "status", "total"), "0");
}

}  // namespace
}  // namespace berth::allocation
