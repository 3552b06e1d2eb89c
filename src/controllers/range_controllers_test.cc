// What the controllers do about ranges: their status, the end of ServiceCIDRs, fences that were
// left closed, and the registration of this server.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "allocation/allocation_forms.h"
#include "allocation/fences.h"
#include "allocation/ledger/ledger_view.h"
#include "controllers/range_status_keeper.h"
#include "controllers/testing/controllers_kit.h"

namespace berth::controllers {
namespace {

using registry::Target;
using std::chrono::seconds;

class RangeControllersTest : public testing::ControllersTest {
 protected:
  Target Range(std::string name = "") const {
    return At("allocation.berth.io/ipranges", "", std::move(name));
  }
  Target Cidr(std::string name = "") const {
    return At("networking.k8s.io/servicecidrs", "", std::move(name));
  }
  void Serve(const std::string& name, const std::string& address) {
    Must(Create(Service(""), "{'metadata':{'name':'" + name + "'},'spec':{'clusterIP':'" + address +
                                 "','ports':[{'port':80}]}}"));
  }
  int64_t Used(const std::string& range) const {
    return codec::IntAt(*Get(Range(range)), "status", "used");
  }
  /// Puts the note as if the store had been switched.
  void NoteForm(allocation::AllocationForm form) {
    store_.Put(allocation::kFormKey,
               codec::EncodeStored(allocation::FormObject({.form = form}, store_.clock.Now()),
                                   api::kRangeFenceKind));
    PumpAll();
  }
  static std::string Condition(const codec::Value& object, std::string_view type) {
    for (const codec::Value& condition : codec::ArrayAt(object, "status", "conditions")) {
      if (codec::StringAt(condition, "type") != type) continue;
      return std::string(codec::StringAt(condition, "status")) + " " +
             std::string(codec::StringAt(condition, "reason"));
    }
    return "";
  }
};

TEST_F(RangeControllersTest, StatusFollowsAtMostOnceASecond) {
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'}}"));
  Serve("one", "10.50.0.3");
  Run();
  EXPECT_EQ(Used("a"), 0) << "not yet";
  Serve("two", "10.50.0.4");
  Advance(seconds(1));
  EXPECT_EQ(Used("a"), 2);
  const int64_t before = Revision();
  Advance(seconds(1));
  Advance(seconds(1));
  EXPECT_EQ(Revision(), before) << "nothing has changed, nothing is written";
}

TEST_F(RangeControllersTest, NothingIsLeftToWriteOfARangeThatWasChanged) {
  const registry::Target ports = At("allocation.berth.io/nodeportranges", "", "web");
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'}}"));
  Must(Create(ports, "{'metadata':{'name':'web'},'spec':{'range':'80-90'}}"));
  Serve("one", "10.50.0.3");
  for (int i = 0; i < 3; ++i) Advance(seconds(1));
  EXPECT_EQ(Used("a"), 1);
  const auto stays = [this](const base::Result<registry::Outcome>& changed) {
    Must(changed);
    const int64_t before = Revision();
    for (int i = 0; i < 3; ++i) Advance(seconds(1));
    EXPECT_EQ(Revision(), before);
  };
  for (const char* spec : {"'range':'10.50.0.0/24'", "'range':'10.50.0.0/27'",
                           "'range':'10.50.0.0/27','disabled':true", "'range':'10.50.0.0/27'",
                           "'range':'10.50.0.0/27','excluded':['10.50.0.16/28']"}) {
    stays(Update(Range("a"), std::string("{'metadata':{'name':'a'},'spec':{") + spec + "}}"));
  }
  stays(Create(Range(), "{'metadata':{'name':'b'},'spec':{'range':'10.51.0.0/28'}}"));
  stays(Update(ports, "{'metadata':{'name':'web'},'spec':{'range':'80-99'}}"));
}

/// A count of the old range must not overwrite the status that the change has written.
TEST_F(RangeControllersTest, AChangeOvertakesCountsOfTheRangeAsItWas) {
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'}}"));
  Advance(seconds(2));
  Serve("one", "10.50.0.3");
  store_.clock.Advance(seconds(1));
  bool changed = false;
  registry_->Update(
      Range("a"), {},
      Always(ParseFor(Range("a"), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/24'}}")), {},
      [&changed](const base::Result<registry::Outcome>& outcome) { changed = !!outcome; });
  while (controllers_->Pump()) {
  }
  ASSERT_FALSE(changed) << "the controllers have seen the range as it was";
  Run();
  EXPECT_TRUE(changed);
  const codec::Value range = *Get(Range("a"));
  EXPECT_EQ(codec::StringAt(range, "status", "total"), "254");
  EXPECT_EQ(codec::IntAt(range, "status", "observedGeneration"), 2);
  EXPECT_EQ(Used("a"), 1);
}

/// Counts of the old ranges are not written to the changed ranges.
TEST_F(RangeControllersTest, CountsAreThoseOfThePictureOrNobodys) {
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'}}"));
  const auto count = [this] {
    return *allocation::LedgerView(addresses_.ledger).RangeNamed(alloc::PoolId::kIpv4, "a");
  };
  const auto before = count();
  EXPECT_TRUE(AreCountsOf(*follower_->Current(), before));
  Serve("one", "10.50.0.3");
  EXPECT_TRUE(AreCountsOf(*follower_->Current(), before)) << "traffic changes no range";
  Must(Update(Range("a"), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/24'}}"));
  EXPECT_FALSE(AreCountsOf(*follower_->Current(), before));
  EXPECT_TRUE(AreCountsOf(*follower_->Current(), count()));
}

TEST_F(RangeControllersTest, LabelsDoNotKeepTheStatusWaiting) {
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'}}"));
  Advance(seconds(2));
  Serve("one", "10.50.0.3");
  for (int i = 0; i < 6; ++i) {
    Must(Update(Range("a"), "{'metadata':{'name':'a','labels':{'n':'" + std::to_string(i) +
                                "'}},'spec':{'range':'10.50.0.0/28'}}"));
    Advance(std::chrono::milliseconds(400));
  }
  EXPECT_EQ(Used("a"), 1);
}

TEST_F(RangeControllersTest, AStatusByHandDoesNotStay) {
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'}}"));
  Advance(seconds(2));
  registry::Target target = Range("a");
  codec::Value wrong = *Get(target);
  codec::SetAt(wrong, {"status", "used"}, 77);
  registry_->Update(
      target, {.door = registry::Door::kStatus},
      [&wrong](const codec::Value*) -> base::Result<registry::Next> {
        return registry::Next{.object = wrong};
      },
      {}, [](const base::Result<registry::Outcome>& outcome) { EXPECT_TRUE(outcome); });
  PumpAll();
  EXPECT_EQ(Used("a"), 77);
  Advance(seconds(1));
  Advance(seconds(1));
  EXPECT_EQ(Used("a"), 0);
}

TEST_F(RangeControllersTest, ACloseThatMayBeRefusedIsNoneOfTheStatus) {
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/28'}}"));
  Advance(seconds(2));
  const registry::Row& fences = *allocation::RecordRowsOf(kinds_).fences;
  allocation::ClosedFence closed{.operation = "x", .since = store_.clock.Now()};
  closed.objects["/registry/allocation.berth.io/ipranges/a"] =
      R"({"metadata":{"name":"a"},"spec":{"range":"10.50.0.0/30"}})";
  const auto put = allocation::FencePut(fences, alloc::PoolId::kIpv4, &closed, store_.clock.Now());
  store_.Put(put.key, put.stored);
  Advance(seconds(2));
  EXPECT_EQ(codec::StringAt(*Get(Range("a")), "status", "total"), "14");
}

TEST_F(RangeControllersTest, WhatBitmapsHaveNoRoomForIsNotInForce) {
  const registry::Target ports = At("allocation.berth.io/nodeportranges", "", "web");
  Must(Create(Range(), "{'metadata':{'name':'more'},'spec':{'range':'10.97.0.0/24'}}"));
  Must(Create(At("allocation.berth.io/nodeportranges", "", ""),
              "{'metadata':{'name':'web'},'spec':{'range':'80-90'}}"));
  Serve("one", "10.97.0.3");
  Run();
  Advance(seconds(1));
  EXPECT_EQ(Condition(*Get(Range("more")), "Ready"), "True Ready");
  EXPECT_EQ(Used("more"), 1);

  NoteForm(allocation::AllocationForm::kBitmaps);
  Advance(seconds(1));
  const codec::Value range = *Get(Range("more"));
  EXPECT_EQ(Condition(range, "Ready"), "False NotInForce");
  EXPECT_EQ(Condition(range, "Exhausted"), "False NotInForce");
  EXPECT_EQ(codec::StringAt(range, "status", "total"), "0");
  EXPECT_EQ(codec::IntAt(range, "status", "free"), 0);
  EXPECT_EQ(Condition(*Get(ports), "Ready"), "False NotInForce");
  EXPECT_EQ(
      Condition(*Get(At("allocation.berth.io/nodeportranges", "", "allocator.nodeport.k8s.io")),
                "Ready"),
      "True Ready")
      << "that one has a bitmap";
  const int64_t before = Revision();
  Advance(seconds(1));
  Advance(seconds(1));
  EXPECT_EQ(Revision(), before) << "nothing has changed, nothing is written";

  NoteForm(allocation::AllocationForm::kRecords);
  Advance(seconds(1));
  EXPECT_EQ(Condition(*Get(Range("more")), "Ready"), "True Ready");
  EXPECT_EQ(Condition(*Get(ports), "Ready"), "True Ready");
  EXPECT_EQ(codec::StringAt(*Get(Range("more")), "status", "total"), "254");
}

TEST_F(RangeControllersTest, StatusOfManyRangesIsWrittenBitByBit) {
  constexpr int kRanges = 100;
  for (int i = 0; i < kRanges; ++i) {
    Must(Create(
        Range(),
        fmt::format("{{'metadata':{{'name':'r{}'}},'spec':{{'range':'10.50.{}.0/28'}}}}", i, i)));
  }
  const auto written = [&] {
    int count = 0;
    for (int i = 0; i < kRanges; ++i) {
      if (Used("r" + std::to_string(i)) == 1) ++count;
    }
    return count;
  };
  Advance(seconds(1));
  for (int i = 0; i < kRanges; ++i) {
    const std::string number = std::to_string(i);
    Serve("s" + number, "10.50." + number + ".3");
  }
  EXPECT_EQ(written(), 0);
  Advance(seconds(1));
  EXPECT_GT(written(), 0);
  EXPECT_LE(written(), 32);
  for (int i = 0; i < 3; ++i) Advance(std::chrono::milliseconds(125));
  EXPECT_EQ(written(), kRanges);
}

TEST_F(RangeControllersTest, ConditionsSayWhatIsTheMatter) {
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/30'}}"));
  Serve("one", "10.50.0.1");
  Serve("two", "10.50.0.2");
  Must(Create(Range(), "{'metadata':{'name':'b'},'spec':{'range':'10.50.0.0/24'}}"));
  Must(Update(Range("a"),
              "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.0/30','disabled':true}}"));
  Advance(seconds(1));
  const codec::Value range = *Get(Range("a"));
  EXPECT_EQ(Condition(range, "Ready"), "False Draining");
  EXPECT_EQ(Condition(range, "Draining"), "True Draining");
  EXPECT_EQ(Condition(range, "Exhausted"), "True Exhausted");
  EXPECT_EQ(Condition(range, "Overlapping"), "True SharedValues");
  Delete(Service("one"));
  Delete(Service("two"));
  Advance(seconds(1));
  EXPECT_EQ(Condition(*Get(Range("a")), "Draining"), "True Drained");
  Must(Create(At("allocation.berth.io/ipaddresses", "", ""),
              "{'metadata':{'name':'171048961'}}"));  // 10.50.0.1
  Advance(seconds(1));
  EXPECT_EQ(Condition(*Get(Range("a")), "Draining"), "True Draining")
      << "a reservation keeps it from being deleted";
}

TEST_F(RangeControllersTest, ADeletedServiceCidrGoesAsSoonAsNothingDependsOnIt) {
  Must(Create(Cidr(), "{'metadata':{'name':'x'},'spec':{'cidrs':['10.50.0.0/24']}}"));
  Serve("one", "10.50.0.1");
  Delete(Cidr("x"));
  Advance(seconds(1));
  ASSERT_TRUE(Get(Cidr("x")));
  EXPECT_EQ(Condition(*Get(Cidr("x")), "Ready"), "False Terminating");
  Delete(Service("one"));
  Advance(seconds(1));
  EXPECT_FALSE(Get(Cidr("x")));
}

TEST_F(RangeControllersTest, AServiceCidrSaysSoonWhetherItCanServe) {
  Must(Create(Cidr(), "{'metadata':{'name':'x'},'spec':{'cidrs':['10.50.0.0/24']}}"));
  Must(Create(Cidr(), "{'metadata':{'name':'y'},'spec':{'cidrs':['10.51.0.7/32']}}"));
  EXPECT_EQ(Condition(*Get(Cidr("x")), "Ready"), "");
  Advance(seconds(1));
  EXPECT_EQ(Condition(*Get(Cidr("x")), "Ready"), "True ");
  EXPECT_EQ(Condition(*Get(Cidr("y")), "Ready"), "False NoUsableAddress");
  codec::Value wrong = *Get(Cidr("x"));
  codec::SetAt(wrong, {"status", "conditions"},
               codec::Array{codec::Object{{"type", "Ready"},
                                          {"status", "False"},
                                          {"reason", "ByHand"},
                                          {"message", ""},
                                          {"lastTransitionTime", "2026-11-15T04:35:00Z"}}});
  registry_->Update(
      Cidr("x"), {.door = registry::Door::kStatus},
      [&wrong](const codec::Value*) -> base::Result<registry::Next> {
        return registry::Next{.object = wrong};
      },
      {}, [](const base::Result<registry::Outcome>& outcome) { EXPECT_TRUE(outcome); });
  PumpAll();
  EXPECT_EQ(Condition(*Get(Cidr("x")), "Ready"), "False ByHand");
  for (int i = 0; i < 5; ++i) Advance(seconds(1));
  EXPECT_EQ(Condition(*Get(Cidr("x")), "Ready"), "True ");
  const codec::Value said = *Get(Cidr("y"));
  Advance(seconds(5));
  EXPECT_EQ(*Get(Cidr("y")), said) << "once is enough";
}

TEST_F(RangeControllersTest, AServiceCidrThatAnotherOneCoversIsNotNeeded) {
  Must(Create(Cidr(), "{'metadata':{'name':'x'},'spec':{'cidrs':['10.50.0.0/24']}}"));
  Serve("one", "10.50.0.1");
  Must(Create(Cidr(), "{'metadata':{'name':'y'},'spec':{'cidrs':['10.50.0.0/16']}}"));
  Delete(Cidr("x"));
  Advance(seconds(1));
  EXPECT_FALSE(Get(Cidr("x")));
}

TEST_F(RangeControllersTest, OneThatCannotGoIsNotTriedAllTheTime) {
  Must(Create(Cidr(), "{'metadata':{'name':'x'},'spec':{'cidrs':['10.50.0.0/27']}}"));
  Must(Create(Range(), "{'metadata':{'name':'a'},'spec':{'range':'10.50.0.16/28'}}"));
  Serve("one", "10.50.0.5");
  Delete(Cidr("x"));
  for (int i = 0; i < 5; ++i) Advance(seconds(1));
  const int64_t before = Revision();
  for (int i = 0; i < 10; ++i) Advance(seconds(1));
  EXPECT_EQ(Revision(), before) << "nothing has changed that could let it go";
  Delete(Service("one"));
  for (int i = 0; i < 6; ++i) Advance(seconds(1));
  EXPECT_FALSE(Get(Cidr("x")));
}

TEST_F(RangeControllersTest, AFenceThatWasLeftClosedIsOpened) {
  const registry::Row& fences = *allocation::RecordRowsOf(kinds_).fences;
  allocation::ClosedFence closed{.operation = "gone", .since = store_.clock.Now()};
  const auto put = allocation::FencePut(fences, alloc::PoolId::kPorts, &closed, store_.clock.Now());
  store_.Put(put.key, put.stored);
  Advance(seconds(5));
  const auto is_closed = [&] {
    return allocation::ReadFence(fences, *follower_->Current()->Find(put.key)).has_value();
  };
  EXPECT_TRUE(is_closed());
  Advance(seconds(10));
  EXPECT_FALSE(is_closed());
}

}  // namespace
}  // namespace berth::controllers
