#include "allocation/forms/bitmap_repairer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/testing/form_stack.h"

namespace berth::allocation {
namespace {

using base::Reason;
using codec::StringAt;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class BitmapRepairerTest : public allocation::testing::FormsTest {
 protected:
  BitmapRepairerTest() { BeginWith(AllocationForm::kBitmaps); }

  BitmapRepairer NewRepairer() {
    return BitmapRepairer({.registry = *registry_,
                           .follower = *follower_,
                           .ledger = addresses_.ledger,
                           .clock = store_.clock,
                           .log = store_.log,
                           .run = [this](commit::Write write) { return Run(std::move(write)); },
                           .metrics = &metrics_},
                          base::SeededRandom(6));
  }
  base::Result<commit::Written> Run(commit::Write write) {
    if (meanwhile_) std::exchange(meanwhile_, nullptr)();
    std::optional<base::Result<commit::Written>> answer;
    sequencer_->Submit(std::move(write), [&answer](base::Result<commit::Written> written) {
      answer = std::move(written);
    });
    PumpAll();
    EXPECT_TRUE(answer) << "no answer";
    return answer ? *std::move(answer) : base::Fail(Reason::kUnknown, "no answer");
  }
  void Pass() {
    const auto passed = repairer_.Pass();
    EXPECT_TRUE(passed) << passed.error().message;
    PumpAll();
  }
  std::string Stored(BitmapId id) {
    const auto stored = store::GetNow(*store_.engine, KeyOf(id));
    return stored && *stored ? (*stored)->value : "";
  }
  /// Puts a bitmap with these bits changed.
  void Spoil(BitmapId id, const std::string& range, const BitmapChange& change) {
    const auto found = follower_->Current()->Find(KeyOf(id));
    std::string data(ViewOf(*found).data);
    MakeChange(ParseBitmapLayout(range).value(), change, data);
    PutBitmap(id, range, data);
  }
  static base::U128 Address(const std::string& text) { return ip::ParseAddr(text).value().bits(); }
  /// Returns "reason: note" for all events.
  std::vector<std::string> Events() const {
    std::vector<std::string> events;
    const registry::Row& row = *kinds_.FindRow(api::kEventKind);
    for (auto at = follower_->Current()->Seek(row.prefix); at.Valid(); at.Next()) {
      const auto event = registry::Registry::Decode(row, *at.Get()).value();
      events.push_back(std::string(StringAt(event, "reason")) + ": " +
                       std::string(StringAt(event, "message")));
    }
    return events;
  }
  uint64_t Counted(const obs::RepairMetrics::Loop& loop, std::string_view type) {
    for (size_t i = 0; i < loop.kTypes.size(); ++i) {
      if (loop.kTypes[i] == type) return loop.found[i].Value();
    }
    return 0;
  }

  obs::RepairMetrics metrics_;
  std::function<void()> meanwhile_;
  BitmapRepairer repairer_ = NewRepairer();
};

TEST_F(BitmapRepairerTest, WhereAllIsWellNothingIsWritten) {
  Made("a", "'type':'NodePort'");
  const int64_t before = Revision();
  Pass();
  EXPECT_EQ(Revision(), before);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(BitmapRepairerTest, ABitmapThatIsGoneIsMadeAgainByteByByte) {
  for (int i = 0; i < 20; ++i) Made("s" + std::to_string(i), "'type':'NodePort'");
  for (const BitmapId id : {BitmapId::kPrimary, BitmapId::kPorts}) {
    const std::string before = Stored(id);
    EXPECT_FALSE(repairer_.IsUrgent());
    store_.Delete(KeyOf(id));
    PumpAll();
    EXPECT_TRUE(repairer_.IsUrgent());
    EXPECT_FALSE(Make("x", "'type':'NodePort'"));
    Pass();
    EXPECT_EQ(Stored(id), before);
    EXPECT_FALSE(repairer_.IsUrgent());
  }
  Made("x", "'type':'NodePort'");
  EXPECT_EQ(Bits(), Held());
}

TEST_F(BitmapRepairerTest, OneOfAnotherRangeIsMadeAnew) {
  Made("a", "'clusterIP':'10.96.0.10'");
  PutBitmap(BitmapId::kPrimary, "10.0.0.0/24", "\x01");
  EXPECT_TRUE(repairer_.IsUrgent());
  Pass();
  EXPECT_THAT(Bits(), ElementsAre("10.96.0.10"));
  Made("b", "'clusterIP':'10.96.0.11'");
}

TEST_F(BitmapRepairerTest, ABitThatIsMissingIsSetAndToldOf) {
  Made("a", "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]");
  Spoil(BitmapId::kPrimary, "10.96.0.0/16", {.releases = {Address("10.96.0.10")}});
  Spoil(BitmapId::kPorts, "30000-32767", {.releases = {30009}});
  Pass();
  EXPECT_EQ(Bits(), Held());
  EXPECT_THAT(Events(), ::testing::UnorderedElementsAre(
                            "ClusterIPNotAllocated: Cluster IP [IPv4]:10.96.0.10 is not allocated; "
                            "repairing",
                            "PortNotAllocated: Port 30009 is not allocated; repairing"));
  EXPECT_EQ(Counted(metrics_.addresses, "repair"), 1u);
  EXPECT_EQ(Counted(metrics_.ports, "repair"), 1u);
}

TEST_F(BitmapRepairerTest, ALeakIsClearedInTheThirdPass) {
  Made("a", "'clusterIP':'10.96.0.10'");
  Spoil(BitmapId::kPrimary, "10.96.0.0/16", {.takes = {Address("10.96.0.77")}});
  Pass();
  Pass();
  EXPECT_THAT(Bits(), ElementsAre("10.96.0.10", "10.96.0.77"));
  EXPECT_EQ(Counted(metrics_.addresses, "leak"), 0u);
  Pass();
  EXPECT_THAT(Bits(), ElementsAre("10.96.0.10"));
  EXPECT_EQ(Counted(metrics_.addresses, "leak"), 1u);
  EXPECT_THAT(Events(), IsEmpty());
}

TEST_F(BitmapRepairerTest, WhatAnotherServerHasClearedAndSomebodyTookIsNotClearedAgain) {
  Spoil(BitmapId::kPrimary, "10.96.0.0/16", {.takes = {Address("10.96.0.77")}});
  BitmapRepairer other = NewRepairer();
  for (int i = 0; i < 2; ++i) {
    Pass();
    ASSERT_TRUE(other.Pass());
  }
  meanwhile_ = [&] {
    ASSERT_TRUE(other.Pass());
    Made("a", "'clusterIP':'10.96.0.77'");
  };
  Pass();
  EXPECT_THAT(Bits(), ElementsAre("10.96.0.77"));
}

TEST_F(BitmapRepairerTest, TheBitOfAServiceThatSomeoneWroteIntoTheStoreIsNotCleared) {
  Made("a", "'clusterIP':'10.96.0.10'");
  Spoil(BitmapId::kPrimary, "10.96.0.0/16", {.takes = {Address("10.96.0.77")}});
  Pass();
  Pass();
  meanwhile_ = [&] {
    const registry::Row& row = *kinds_.FindRow(api::kServiceKind);
    auto service =
        registry::Registry::Decode(row, *follower_->Current()->Find(row.prefix + "shop/a")).value();
    codec::SetAt(service, {"metadata", "name"}, "b");
    codec::SetAt(service, {"spec", "clusterIP"}, "10.96.0.77");
    codec::SetAt(service, {"spec", "clusterIPs"}, codec::Array{"10.96.0.77"});
    store_.Put(row.prefix + "shop/b", codec::EncodeStored(service, *row.kind));
    PumpAll();
  };
  Pass();
  EXPECT_THAT(Bits(), ElementsAre("10.96.0.10", "10.96.0.77"));
}

TEST_F(BitmapRepairerTest, AnEventIsOneObjectHoweverOftenItIsRaised) {
  Made("a", "'clusterIP':'10.96.0.10'");
  BitmapRepairer other = NewRepairer();
  for (BitmapRepairer* repairer : {&repairer_, &other}) {
    Spoil(BitmapId::kPrimary, "10.96.0.0/16", {.releases = {Address("10.96.0.10")}});
    ASSERT_TRUE(repairer->Pass());
    PumpAll();
  }
  EXPECT_EQ(Events().size(), 1u);
}

TEST_F(BitmapRepairerTest, InRecordsThereIsNothingToDo) {
  store_.Put(kFormKey,
             codec::EncodeStored(FormObject({}, store_.clock.Now()), *rows_.fences->kind));
  PumpAll();
  const int64_t before = Revision();
  EXPECT_FALSE(repairer_.IsUrgent());
  Pass();
  EXPECT_EQ(Revision(), before);
}

}  // namespace
}  // namespace berth::allocation
