// Services take and release the same values in whichever form the store keeps allocations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/ledger/ledger_view.h"
#include "allocation/testing/form_stack.h"
#include "rules/range_spec.h"

namespace berth::allocation {
namespace {

using allocation::testing::Text;
using base::Reason;
using codec::IntAt;
using codec::StringAt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EveryFormTest : public testing::FormsTest,
                      public ::testing::WithParamInterface<AllocationForm> {
 protected:
  EveryFormTest() { BeginWith(GetParam()); }

  /// Expects that the written form says what Services hold, and nothing else.
  void ExpectKept() const {
    if (WritesRecords(GetParam())) {
      EXPECT_EQ(Records(), Held());
    } else {
      EXPECT_THAT(Records(), IsEmpty());
    }
    if (WritesBitmaps(GetParam())) {
      EXPECT_EQ(Bits(), Held());
    } else {
      EXPECT_THAT(Bits(), IsEmpty());
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Forms, EveryFormTest,
                         ::testing::Values(AllocationForm::kRecords, AllocationForm::kBitmaps,
                                           AllocationForm::kToRecords, AllocationForm::kToBitmaps),
                         [](const auto& form) {
                           std::string name(FormText(form.param));
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(EveryFormTest, ACreateTakesAndADeleteGives) {
  const codec::Value service =
      Made("a", "'type':'LoadBalancer','externalTrafficPolicy':'Local','clusterIP':'10.96.0.10'");
  EXPECT_EQ(StringAt(service, "spec", "clusterIP"), "10.96.0.10");
  EXPECT_GE(IntAt(service, "spec", "healthCheckNodePort"), 30086) << "from the dynamic band";
  EXPECT_THAT(Held(), SizeIs(3));
  ExpectKept();
  Must(Delete(Service("a")));
  EXPECT_THAT(Held(), IsEmpty());
  ExpectKept();
}

TEST_P(EveryFormTest, AnUpdateTakesSomeAndGivesOthers) {
  Made("a", "'type':'NodePort','ports':[{'port':80,'nodePort':30001}]");
  Must(Update(Service("a"),
              "{'metadata':{'name':'a'},'spec':{'type':'NodePort','ports':[{'port':80,'nodePort':"
              "30002}]}}"));
  EXPECT_TRUE(Held().contains("30002"));
  EXPECT_FALSE(Held().contains("30001"));
  ExpectKept();
  Must(Update(Service("a"),
              "{'metadata':{'name':'a'},'spec':{'type':'ClusterIP','ports':[{'port':80}]}}"));
  EXPECT_THAT(Held(), SizeIs(1));
  ExpectKept();
}

TEST_P(EveryFormTest, WhatCannotBeHadIsToldInTheSameWords) {
  Made("a", "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]");
  const struct {
    const char* spec;
    const char* message;
  } cases[] = {
      {"'clusterIP':'10.96.0.10'", "provided IP is already allocated"},
      {"'clusterIP':'10.97.0.10'", "the provided network does not match the current range"},
      {"'clusterIP':'10.96.0.0'", "the provided network does not match the current range"},
      {"'clusterIP':'10.96.255.255'", "the provided network does not match the current range"},
      {"'type':'NodePort','ports':[{'port':80,'nodePort':30009}]",
       "provided port is already allocated"},
      {"'type':'NodePort','ports':[{'port':80,'nodePort':8080}]",
       "provided port is not in the valid range. The range of valid ports is 30000-32767"},
  };
  for (const auto& each : cases) {
    const auto answer = Make("b", each.spec);
    ASSERT_FALSE(answer) << each.spec;
    EXPECT_EQ(answer.error().reason, Reason::kInvalid);
    EXPECT_THAT(answer.error().message, HasSubstr(each.message));
  }
  ExpectKept();
}

TEST_P(EveryFormTest, AllOrNothing) {
  Made("a", "'type':'NodePort','ports':[{'port':80,'nodePort':30009}]");
  EXPECT_FALSE(Make("b",
                    "'type':'NodePort','ports':[{'name':'x','port':80,'nodePort':30010},{'name':'y'"
                    ",'port':81,'nodePort':30009}]"));
  EXPECT_FALSE(Held().contains("30010"));
  ExpectKept();
  Made("c", "'type':'NodePort','ports':[{'port':80,'nodePort':30010}]");
  ExpectKept();
}

TEST_P(EveryFormTest, ADryRunShowsAValueAndKeepsNothing) {
  const auto shown = Make("a", "'type':'NodePort'", {.dry_run = true});
  ASSERT_TRUE(shown) << Text(shown);
  EXPECT_NE(StringAt(Show(Service("a"), *shown->written.object), "spec", "clusterIP"), "");
  EXPECT_THAT(Held(), IsEmpty());
  ExpectKept();
  Made("b", "'clusterIP':'10.96.0.10'");
  EXPECT_FALSE(Make("c", "'clusterIP':'10.96.0.10'", {.dry_run = true}));
}

TEST_P(EveryFormTest, ManyAtOnceEachGetTheirOwn) {
  std::vector<base::Result<registry::Outcome>> answers;
  for (int i = 0; i < 200; ++i) {
    const registry::Target target = Service("");
    registry_->Create(target,
                      ParseFor(target, "{'metadata':{'name':'s" + std::to_string(i) +
                                           "'},'spec':{'type':'NodePort','ports':[{'port':80}]}}"),
                      {}, [&answers](base::Result<registry::Outcome> answer) {
                        answers.push_back(std::move(answer));
                      });
  }
  PumpAll();
  ASSERT_THAT(answers, SizeIs(200));
  for (const auto& answer : answers) EXPECT_TRUE(answer) << Text(answer);
  EXPECT_THAT(Held(), SizeIs(400));
  ExpectKept();
}

TEST_P(EveryFormTest, AServerThatStartsAnewSeesWhatIsTaken) {
  Made("a", "'type':'NodePort','clusterIP':'10.96.0.10','ports':[{'port':80,'nodePort':30009}]");
  allocation::testing::TestAddresses other(kinds_);
  state::Follower follower(*store_.engine, resources_, {&other.ledger}, {}, store_.clock,
                           store_.log);
  while (follower.Pump()) {
  }
  EXPECT_TRUE(LedgerView(other.ledger).IsHeld({.pool = PoolId::kPorts, .value = 30009}));
  EXPECT_TRUE(
      LedgerView(other.ledger)
          .IsHeld({.pool = PoolId::kIpv4, .value = ip::ParseAddr("10.96.0.10").value().bits()}));
  EXPECT_FALSE(LedgerView(other.ledger).IsHeld({.pool = PoolId::kPorts, .value = 30010}));
}

TEST_P(EveryFormTest, RangesAndReservationsNeedRecords) {
  const auto address = Create(At("networking.k8s.io/ipaddresses", "", ""),
                              "{'metadata':{'name':'10.96.0.20'},'spec':{'parentRef':{'group':'x','"
                              "resource':'y','name':'z'}}}");
  const auto port =
      Create(At("allocation.berth.io/nodeports", "", ""), "{'metadata':{'name':'30100'}}");
  const auto range = Create(At("allocation.berth.io/ipranges", "", ""),
                            "{'metadata':{'name':'more'},'spec':{'range':'10.97.0.0/24'}}");
  const auto ports =
      Update(At("allocation.berth.io/nodeportranges", "", std::string(rules::kNodePortRangeName)),
             "{'metadata':{'name':'allocator.nodeport.k8s.io'},'spec':{'range':'30000-32768'}}");
  for (const auto& answer : {address, port, range, ports}) {
    if (GetParam() == AllocationForm::kRecords) {
      EXPECT_TRUE(answer) << Text(answer);
      continue;
    }
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().reason, Reason::kConflict);
    EXPECT_THAT(answer.error().message,
                ::testing::AnyOf(HasSubstr("berth migrate-allocations --to=records"),
                                 HasSubstr("try again when that is done")));
  }
}

class BitmapFormTest : public testing::FormsTest {
 protected:
  BitmapFormTest() { BeginWith(AllocationForm::kBitmaps); }
};

TEST_F(BitmapFormTest, TheBytesAreKubernetes) {
  Made("a", "'clusterIP':'10.96.0.1'");
  Made("b", "'clusterIP':'10.96.0.10'");
  const auto stored = store::GetNow(*store_.engine, KeyOf(BitmapId::kPrimary));
  ASSERT_TRUE(stored && *stored);
  const std::string empty_metadata("\x0a\x10\x0a\0\x12\0\x1a\0\"\0*\0002\0008\0B\0", 18);
  const std::string message = empty_metadata + "\x12\x0c" + "10.96.0.0/16" + "\x1a\x02\x02\x01";
  EXPECT_EQ((*stored)->value,
            std::string("k8s\0\x0a\x15\x0a\x02v1\x12\x0fRangeAllocation\x12", 28) +
                static_cast<char>(message.size()) + message + std::string("\x1a\0\"\0", 4));
}

TEST_F(BitmapFormTest, WithoutABitmapNothingIsTakenAndAllCanBeGiven) {
  Made("a", "'clusterIP':'10.96.0.10'");
  store_.Delete(KeyOf(BitmapId::kPrimary));
  PumpAll();
  const auto answer = Make("b");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message,
            "cannot allocate resources of type serviceipallocations at this time");
  Must(Delete(Service("a")));
}

TEST_F(BitmapFormTest, AnotherServersTakeIsSeenAndAnotherValueDrawn) {
  Made("a", "'clusterIP':'10.96.0.10'");
  // Another server leaves this state, and this server has not seen it yet.
  BitmapChange change{.takes = {ip::ParseAddr("10.96.0.10").value().bits(),
                                ip::ParseAddr("10.96.0.11").value().bits()}};
  std::string data;
  MakeChange(ParseBitmapLayout("10.96.0.0/16").value(), change, data);
  store_.Put(KeyOf(BitmapId::kPrimary), StoredBitmap({.range = "10.96.0.0/16", .data = data}));
  const auto answer = Make("b", "'clusterIP':'10.96.0.11'");
  ASSERT_FALSE(answer);
  EXPECT_THAT(answer.error().message, HasSubstr("provided IP is already allocated"));
}

TEST_F(BitmapFormTest, AServerWithAnOldIdeaOfTheFormDecidesAgain) {
  store_.Put(kFormKey, codec::EncodeStored(
                           FormObject({.form = AllocationForm::kToRecords}, store_.clock.Now()),
                           *rows_.fences->kind));
  Made("a", "'clusterIP':'10.96.0.10'");
  EXPECT_THAT(Records(), ::testing::ElementsAre("10.96.0.10"));
  EXPECT_THAT(Bits(), ::testing::ElementsAre("10.96.0.10"));
}

}  // namespace
}  // namespace berth::allocation
