#include "allocation/forms/form_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/ledger/ledger_view.h"
#include "allocation/testing/form_stack.h"

namespace berth::allocation {
namespace {

using base::Reason;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

class FormSwitchTest : public allocation::testing::FormsTest {
 protected:
  FormSwitch NewSwitch() {
    return FormSwitch({.registry = *registry_,
                       .follower = *follower_,
                       .ledger = addresses_.ledger,
                       .clock = store_.clock,
                       .run = [this](commit::Write write) { return Run(std::move(write)); }},
                      base::SeededRandom(5));
  }
  base::Result<commit::Written> Run(commit::Write write) {
    if (writes_left_ == 0) return base::Fail(Reason::kServiceUnavailable, "cut off");
    --writes_left_;
    if (meanwhile_) meanwhile_();
    std::optional<base::Result<commit::Written>> answer;
    sequencer_->Submit(std::move(write), [&answer](base::Result<commit::Written> written) {
      answer = std::move(written);
    });
    PumpAll();
    EXPECT_TRUE(answer) << "no answer";
    return answer ? *std::move(answer) : base::Fail(Reason::kUnknown, "no answer");
  }
  base::Result<FormSwitch::Report> Switch(AllocationForm to, bool force = false) {
    return NewSwitch().Run({.to = to, .force = force});
  }
  FormNote Note() const { return FormIn(rows_, *follower_->Current()); }

  void MakeSome(int count) {
    for (int i = 0; i < count; ++i) {
      Made("s" + std::to_string(i), i % 3 == 0 ? "'type':'NodePort'" : "");
    }
  }
  /// Puts a copy of a Service straight into the store.
  void PutTwin(const std::string& name, const std::string& twin) {
    codec::Value service = Get(Service(name)).value_or(codec::Object());
    codec::SetAt(service, {"metadata", "name"}, twin);
    store_.Put(rows_.services->prefix + "shop/" + twin,
               codec::EncodeStored(service, *rows_.services->kind));
    PumpAll();
  }
  /// Expects that only this form exists, and that it is complete.
  void ExpectIn(AllocationForm form) const {
    EXPECT_EQ(Note(), FormNote{.form = form});
    EXPECT_EQ(Records(), form == AllocationForm::kRecords ? Held() : std::set<std::string>());
    EXPECT_EQ(Bits(), form == AllocationForm::kBitmaps ? Held() : std::set<std::string>());
    for (const auto& held : Held()) {
      const auto address = ip::ParseAddr(held);
      const PoolValue value =
          address
              ? PoolValue{.pool = PoolOf(address->family()), .value = address->bits()}
              : PoolValue{.pool = PoolId::kPorts, .value = static_cast<unsigned>(std::stoi(held))};
      EXPECT_TRUE(LedgerView(addresses_.ledger).IsHeld(value)) << held;
    }
  }

  int writes_left_ = 1'000'000;
  std::function<void()> meanwhile_;
};

TEST_F(FormSwitchTest, ThereAndBack) {
  MakeSome(100);
  const auto to = Switch(AllocationForm::kBitmaps);
  ASSERT_TRUE(to) << to.error().message;
  EXPECT_TRUE(to->changed);
  EXPECT_EQ(to->filled, 134u);
  EXPECT_EQ(to->removed, 134u);
  ExpectIn(AllocationForm::kBitmaps);
  Made("more", "'type':'NodePort'");
  ExpectIn(AllocationForm::kBitmaps);
  const auto back = Switch(AllocationForm::kRecords);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->filled, 136u);
  ExpectIn(AllocationForm::kRecords);
  Made("evenmore", "'type':'NodePort'");
  ExpectIn(AllocationForm::kRecords);
}

TEST_F(FormSwitchTest, ARecordSaysTheSameAsBefore) {
  Made("a",
       "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'name':'web','port':80,"
       "'nodePort':30009}]");
  const auto whole = [this](const std::string& resource, const std::string& name) {
    codec::Value object = Get(At(resource, "", name)).value_or(codec::Object());
    codec::EraseAt(object, {"metadata", "uid"});
    codec::EraseAt(object, {"metadata", "resourceVersion"});
    return object;
  };
  const codec::Value address = whole("networking.k8s.io/ipaddresses", "10.96.0.10");
  const codec::Value port = whole("allocation.berth.io/nodeports", "30009");
  ASSERT_TRUE(Switch(AllocationForm::kBitmaps));
  ASSERT_TRUE(Switch(AllocationForm::kRecords));
  EXPECT_EQ(whole("networking.k8s.io/ipaddresses", "10.96.0.10"), address);
  EXPECT_EQ(whole("allocation.berth.io/nodeports", "30009"), port);
}

TEST_F(FormSwitchTest, ThereIsNoSwitchWhileTwoServicesHoldOneValue) {
  for (const AllocationForm to : {AllocationForm::kBitmaps, AllocationForm::kRecords}) {
    Made("a", "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]");
    PutTwin("a", "b");
    const int64_t before = Revision();
    for (const bool force : {false, true}) {
      const auto refused = Switch(to, force);
      ASSERT_FALSE(refused);
      EXPECT_EQ(refused.error().message,
                "two Services hold one value: address 10.96.0.10 is held by the Services shop/a "
                "and shop/b; port 30009 is held by the Services shop/a and shop/b; delete one of "
                "them, or give it another value, first");
    }
    EXPECT_EQ(Revision(), before) << "nothing has been written";
    Must(Delete(Service("b")));
    Must(Delete(Service("a")));
    ASSERT_TRUE(Switch(to));
    ExpectIn(to);
  }
}

TEST_F(FormSwitchTest, ASwitchIsTakenBackIfTwoServicesHoldOneValueMeanwhile) {
  for (const AllocationForm to : {AllocationForm::kBitmaps, AllocationForm::kRecords}) {
    const AllocationForm from = Note().form;
    Made("a");
    writes_left_ = 1;  // The note says that a switch has begun.
    ASSERT_FALSE(Switch(to));
    writes_left_ = 1'000'000;
    PutTwin("a", "b");
    const auto refused = Switch(to);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("is held by the Services shop/a and shop/b"));
    EXPECT_EQ(Note(), FormNote{.form = from});
    Must(Delete(Service("b")));
    Must(Delete(Service("a")));
    ASSERT_TRUE(Switch(to));
    ExpectIn(to);
  }
}

TEST_F(FormSwitchTest, WhatIsSoAlreadyStays) {
  MakeSome(3);
  const int64_t before = Revision();
  const auto same = Switch(AllocationForm::kRecords);
  ASSERT_TRUE(same);
  EXPECT_FALSE(same->changed);
  EXPECT_EQ(Revision(), before);
}

TEST_F(FormSwitchTest, ARangeThatComesJustBeforeItBeginsIsSeen) {
  MakeSome(3);
  meanwhile_ = [this] {
    meanwhile_ = nullptr;
    Must(Create(At("allocation.berth.io/ipranges", "", ""),
                "{'metadata':{'name':'second'},'spec':{'range':'10.97.0.0/24'}}"));
  };
  const auto blocked = Switch(AllocationForm::kBitmaps);
  ASSERT_FALSE(blocked);
  EXPECT_THAT(blocked.error().message, HasSubstr("range second (10.97.0.0/24)"));
  EXPECT_EQ(follower_->Current()->Find(kFormKey), nullptr) << "it never began";
}

TEST_F(FormSwitchTest, CutOffAnywhereItIsFinishedByTheNextOne) {
  MakeSome(70);
  for (const auto to : {AllocationForm::kBitmaps, AllocationForm::kRecords}) {
    bool finished = false;
    for (int writes = 0; !finished && writes < 50; ++writes) {
      writes_left_ = writes;
      finished = Switch(to).has_value();
      Made("x" + std::to_string(writes) + std::to_string(static_cast<int>(to)));
    }
    EXPECT_TRUE(finished);
    ExpectIn(to);
    writes_left_ = 1'000'000;
  }
}

TEST_F(FormSwitchTest, CutOffAnywhereItCanBeTakenBack) {
  MakeSome(70);
  const struct {
    AllocationForm from;
    AllocationForm to;
  } ways[] = {{AllocationForm::kRecords, AllocationForm::kBitmaps},
              {AllocationForm::kBitmaps, AllocationForm::kRecords}};
  for (const auto& way : ways) {
    ASSERT_TRUE(Switch(way.from));
    for (int writes = 0; writes < 12; ++writes) {
      writes_left_ = writes;
      if (Switch(way.to)) break;
      writes_left_ = 1'000'000;
      const auto back = Switch(way.from);
      ASSERT_TRUE(back) << back.error().message;
      ExpectIn(way.from);
    }
    writes_left_ = 1'000'000;
  }
}

TEST_F(FormSwitchTest, EverybodyGoesOnMeanwhile) {
  MakeSome(150);
  int made = 0;
  meanwhile_ = [this, &made] {
    Must(Make("m" + std::to_string(made), "'type':'NodePort'"));
    Must(Delete(Service("s" + std::to_string(made))));
    Must(Update(Service("s" + std::to_string(149 - made % 20)),
                "{'metadata':{'name':'s" + std::to_string(149 - made % 20) + "'},'spec':{'type':'" +
                    (made % 2 == 0 ? "NodePort" : "ClusterIP") + "','ports':[{'port':80}]}}"));
    ++made;
  };
  ASSERT_TRUE(Switch(AllocationForm::kBitmaps));
  EXPECT_GT(made, 5);
  ExpectIn(AllocationForm::kBitmaps);
  const auto back = Switch(AllocationForm::kRecords);
  ASSERT_TRUE(back) << back.error().message;
  ExpectIn(AllocationForm::kRecords);
}

TEST_F(FormSwitchTest, WhatBitmapsHaveNoRoomForIsNamed) {
  Must(Create(At("allocation.berth.io/ipranges", "", ""),
              "{'metadata':{'name':'more'},'spec':{'range':'10.97.0.0/24'}}"));
  Must(Create(At("allocation.berth.io/nodeportranges", "", ""),
              "{'metadata':{'name':'web'},'spec':{'range':'80'}}"));
  Must(Create(At("networking.k8s.io/ipaddresses", "", ""),
              "{'metadata':{'name':'10.96.0.20'},'spec':{'parentRef':{'group':'x','resource':'y','"
              "name':'z'}}}"));
  Made("a", "'type':'NodePort','clusterIP':'10.97.0.10','ports':[{'port':80,'nodePort':80}]");
  const auto refused = Switch(AllocationForm::kBitmaps);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, Reason::kConflict);
  for (const char* blocker :
       {"range more (10.97.0.0/24) is not the only one of IPv4 addresses",
        "range web (80) is not the only one of node ports", "address 10.96.0.20 is reserved",
        "10.97.0.10 of Service shop/a has no place in 10.96.0.0/16",
        "80 of Service shop/a has no place in 30000-32767"}) {
    EXPECT_THAT(refused.error().message, HasSubstr(blocker));
  }
  EXPECT_EQ(Note(), FormNote());

  const auto forced = Switch(AllocationForm::kBitmaps, true);
  ASSERT_TRUE(forced) << forced.error().message;
  EXPECT_EQ(forced->left_out.total, 5u);
  EXPECT_EQ(Note().form, AllocationForm::kBitmaps);
  EXPECT_THAT(Records(), IsEmpty());
  EXPECT_THAT(Bits(), IsEmpty());
  EXPECT_FALSE(Make("b", "'clusterIP':'10.97.0.11'")) << "only the first range gives anything";
  const auto back = Switch(AllocationForm::kRecords);
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(Records(), Held()) << "Services have kept what they had";
}

TEST_F(FormSwitchTest, WhatCoolsDownIsFreeInABitmap) {
  Must(Create(At("allocation.berth.io/ipranges", "", ""),
              "{'metadata':{'name':'allocator.ipv4.k8s.io'},'spec':{'range':'10.96.0.0/16',"
              "'primary':true,'coolDownSeconds':600}}"));
  Must(Update(At("allocation.berth.io/nodeportranges", "", "allocator.nodeport.k8s.io"),
              "{'metadata':{'name':'allocator.nodeport.k8s.io'},'spec':{'range':'30000-32767',"
              "'coolDownSeconds':600}}"));
  MakeSome(5);
  Made("old", "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]");
  Must(Delete(Service("old")));
  EXPECT_THAT(Records(), IsSupersetOf({"10.96.0.10", "30009"})) << "they cool down";
  // A client asks for one of them while both forms are kept.
  bool begun = false;
  meanwhile_ = [this, &begun] {
    if (Note().form != AllocationForm::kToBitmaps || std::exchange(begun, true)) return;
    Must(Make("early", "'clusterIP':'10.96.0.10'"));
  };
  const auto to = Switch(AllocationForm::kBitmaps);
  ASSERT_TRUE(to) << to.error().message;
  EXPECT_EQ(to->left_out.total, 0u);
  EXPECT_TRUE(begun);
  ExpectIn(AllocationForm::kBitmaps);
  Made("new", "'type':'NodePort','ports':[{'port':80,'nodePort':30009}]");
  const auto back = Switch(AllocationForm::kRecords);
  ASSERT_TRUE(back) << back.error().message;
  ExpectIn(AllocationForm::kRecords);
}

TEST_F(FormSwitchTest, AReservationThatCameJustBeforeIsFoundAndTheSwitchTakenBack) {
  MakeSome(5);
  bool first = true;
  meanwhile_ = [this, &first] {
    if (!std::exchange(first, false)) return;
    Must(Create(At("networking.k8s.io/ipaddresses", "", ""),
                "{'metadata':{'name':'10.96.0.20'},'spec':{'parentRef':{'group':'x','resource':'y'"
                ",'name':'z'}}}"));
  };
  const auto refused = Switch(AllocationForm::kBitmaps);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("address 10.96.0.20 is reserved"));
  EXPECT_EQ(Note(), FormNote{.form = AllocationForm::kRecords});
  EXPECT_THAT(Bits(), IsEmpty());
  EXPECT_EQ(follower_->Current()->Find(KeyOf(BitmapId::kPrimary)), nullptr);
}

TEST_F(FormSwitchTest, TwoAtOnceDoNoHarm) {
  MakeSome(150);
  FormSwitch other = NewSwitch();
  bool inside = false;
  meanwhile_ = [&] {
    if (std::exchange(inside, true)) return;
    EXPECT_TRUE(other.Run({.to = AllocationForm::kBitmaps}));
  };
  ASSERT_TRUE(Switch(AllocationForm::kBitmaps));
  ExpectIn(AllocationForm::kBitmaps);
}

TEST_F(FormSwitchTest, ABitmapThatSomebodyDeletesMeanwhileIsMadeAgain) {
  MakeSome(150);
  int writes = 0;
  meanwhile_ = [this, &writes] {
    if (++writes != 4) return;
    store_.Delete(KeyOf(BitmapId::kPrimary));
    PumpAll();
  };
  for (int tries = 0; tries < 3 && !Switch(AllocationForm::kBitmaps); ++tries) {
  }
  ExpectIn(AllocationForm::kBitmaps);
}

TEST_F(FormSwitchTest, WhoWantsToCanStopIt) {
  MakeSome(150);
  FormSwitch one = NewSwitch();
  const auto stopped = one.Run(
      {.to = AllocationForm::kBitmaps, .progress = [](const FormSwitch::Step&) { return false; }});
  EXPECT_FALSE(stopped);
  EXPECT_EQ(FormSwitch::Unfinished(Note()), AllocationForm::kBitmaps);
  ASSERT_TRUE(Switch(AllocationForm::kBitmaps));
  ExpectIn(AllocationForm::kBitmaps);
}

}  // namespace
}  // namespace berth::allocation
