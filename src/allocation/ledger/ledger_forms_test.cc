// A ledger whose store keeps bitmaps, records, or changes from one to the other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/ledger/testing/ledger.h"
#include "state/wire_bitmap.h"

namespace berth::allocation {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using Why = Denial::Why;

/// "form" is the note about the form; its body is "records", "bitmaps", "to-records" or
/// "to-bitmaps". "bits" is the primary bitmap; its body is the last bytes of the addresses of
/// 10.0.0.0/29 that are taken.
RecordReader FormReader() {
  RecordReader reader = testing::Reader();
  reader.form = [](const state::Object& object) -> std::optional<AllocationForm> {
    if (object.Name() != "form") return std::nullopt;
    const std::string text = state::testing::Body(object);
    if (text == "bitmaps") return AllocationForm::kBitmaps;
    if (text == "to-records") return AllocationForm::kToRecords;
    if (text == "to-bitmaps") return AllocationForm::kToBitmaps;
    return AllocationForm::kRecords;
  };
  reader.bitmap = [](const state::Object& object) -> std::optional<BitmapId> {
    if (object.Name() != "bits") return std::nullopt;
    return BitmapId::kPrimary;
  };
  return reader;
}

class LedgerFormsTest : public ::testing::Test {
 protected:
  LedgerFormsTest() { Put("r10.0.0.0_29"); }  // 1 to 6.

  state::Change Changed(const std::string& name, const state::WireText& wire) {
    auto object =
        state::Object::Make(*resources_.Find(testing::RecordKey(name)), ++revision_, wire);
    const state::ObjectPtr before = std::exchange(objects_[name], object);
    return {.revision = revision_, .object = object, .previous = before};
  }
  state::Change Gone(const std::string& name) {
    const state::ObjectPtr before = objects_[name];
    objects_.erase(name);
    return {.revision = ++revision_, .previous = before};
  }
  void Tell(const std::vector<state::Change>& changes) { ledger_.OnBatch(changes, revision_); }
  void Put(const std::string& name, const std::string& body = "") {
    Tell({Changed(name, state::testing::Wire(body))});
  }
  static state::WireText Bits(const std::vector<int>& taken,
                              const std::string& range = "10.0.0.0/29") {
    BitmapChange change;
    for (const int value : taken) change.takes.push_back(Value(value).value);
    std::string data;
    const auto form = ParseBitmapLayout(range).value();
    EXPECT_FALSE(MakeChange(form, change, data));
    return state::BitmapToWire(StoredBitmap({.range = range, .data = data})).value();
  }
  void PutBits(const std::vector<int>& taken) { Tell({Changed("bits", Bits(taken))}); }
  void Delete(const std::string& name) { Tell({Gone(name)}); }

  static PoolValue Value(int last) {
    return {.pool = PoolId::kIpv4,
            .value = ip::ParseAddr("10.0.0.0").value().bits() + static_cast<unsigned>(last)};
  }
  std::vector<int> Held() const {
    std::vector<int> held;
    for (int last = 0; last < 8; ++last) {
      if (LedgerView(ledger_).IsHeld(Value(last))) held.push_back(last);
    }
    return held;
  }
  tl::expected<Grant, Denial> Request(const std::vector<Claim>& claims,
                                      const std::vector<PoolValue>& releases) {
    TicketPtr ticket;
    return ledger_.GrantClaims({}, claims, releases, ticket);
  }
  static Claim The(int last) { return {.pool = PoolId::kIpv4, .wanted = Value(last).value}; }

  state::Resources resources_ = state::testing::MakeResources();
  std::map<std::string, state::ObjectPtr> objects_;
  int64_t revision_ = 0;
  Ledger ledger_{FormReader(), base::SeededRandom(1)};
};

using Ints = std::vector<int>;

TEST_F(LedgerFormsTest, WithoutANoteRecordsCount) {
  Put("10.0.0.1");
  PutBits({1, 2, 3});
  EXPECT_EQ(Held(), Ints({1}));
  const auto grant = Request({The(4)}, {});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->form, AllocationForm::kRecords);
  EXPECT_EQ(grant->form_revision, 0);
  EXPECT_THAT(BitmapPuts(*grant), IsEmpty());
  ledger_.EndGrant(*grant);
}

TEST_F(LedgerFormsTest, BitsAreTakenAndGivenAsTheBitmapChanges) {
  Put("form", "bitmaps");
  const int64_t noted = revision_;
  PutBits({1, 2, 3});
  EXPECT_EQ(Held(), Ints({1, 2, 3}));
  PutBits({2, 5});
  EXPECT_EQ(Held(), Ints({2, 5}));
  Put("10.0.0.6");
  EXPECT_EQ(Held(), Ints({2, 5})) << "records count for nothing";
  const auto grant = Request({The(4)}, {Value(2)});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->form_revision, noted);
  EXPECT_THAT(BitmapPuts(*grant), SizeIs(1));
  PutBits({4, 5});
  ledger_.EndGrant(*grant);
  EXPECT_EQ(Held(), Ints({4, 5}));
}

TEST_F(LedgerFormsTest, AWriteInFlightHasItsValueUntilItIsSettled) {
  Put("form", "bitmaps");
  PutBits({});
  const auto grant = Request({The(4)}, {});
  ASSERT_TRUE(grant);
  PutBits({1});
  EXPECT_EQ(Held(), Ints({1, 4}));
  const auto denied = Request({The(4)}, {});
  ASSERT_FALSE(denied);
  EXPECT_TRUE(denied.error().wait) << "it may still fail";
  ledger_.EndGrant(*grant);
  EXPECT_EQ(Held(), Ints({1}));
}

TEST_F(LedgerFormsTest, ABitmapThatWasDeletedIsNotForgottenAndThenReadAnew) {
  Put("form", "bitmaps");
  PutBits({1, 2});
  Delete("bits");
  EXPECT_EQ(Held(), Ints({1, 2}));
  PutBits({2, 3});
  EXPECT_EQ(Held(), Ints({2, 3}));
}

TEST_F(LedgerFormsTest, OfAnotherRangeNothingIsLeft) {
  Put("form", "bitmaps");
  PutBits({1, 2});
  Tell({Changed("bits", Bits({3}, "10.0.0.0/28"))});
  EXPECT_EQ(Held(), Ints({3}));
}

TEST_F(LedgerFormsTest, WhenBitmapsBeginToCountTheyAreWhatIsHeld) {
  Put("10.0.0.1");
  Put("10.0.0.6", "reserved shop/web");
  PutBits({});
  Put("form", "to-bitmaps");
  EXPECT_EQ(Held(), Ints({1, 6})) << "records still count";
  PutBits({1, 3});
  EXPECT_EQ(Held(), Ints({1, 6}));
  Put("form", "bitmaps");
  EXPECT_EQ(Held(), Ints({1, 3}));
  Delete("10.0.0.1");
  EXPECT_EQ(Held(), Ints({1, 3})) << "that the old form goes is nothing to us";
  const auto grant = Request({The(6)}, {});
  EXPECT_TRUE(grant) << "nothing is reserved any more";
  if (grant) ledger_.EndGrant(*grant);
}

TEST_F(LedgerFormsTest, WhenRecordsBeginToCountTheyAreWhatIsHeld) {
  Put("form", "bitmaps");
  PutBits({1, 2, 3});
  Put("form", "to-records");
  Put("10.0.0.1");
  Put("10.0.0.2");
  Put("192.168.0.1");
  EXPECT_EQ(Held(), Ints({1, 2, 3})) << "bitmaps still count";
  Delete("10.0.0.2");
  PutBits({1, 3});
  Put("form", "records");
  EXPECT_EQ(Held(), Ints({1})) << "the bit of 3 was nobody's";
  EXPECT_TRUE(LedgerView(ledger_).IsHeld(
      {.pool = PoolId::kIpv4, .value = ip::ParseAddr("192.168.0.1").value().bits()}));
  Delete("bits");
  EXPECT_EQ(Held(), Ints({1}));
}

TEST_F(LedgerFormsTest, AChangeOfFormIsSeenInItsPlaceAmongOthers) {
  Put("form", "to-records");
  PutBits({1});
  Tell({Changed("10.0.0.1", state::testing::Wire("")), Changed("bits", Bits({1, 2})),
        Changed("10.0.0.2", state::testing::Wire("")),
        Changed("form", state::testing::Wire("records")),
        Changed("10.0.0.4", state::testing::Wire("")), Gone("10.0.0.1")});
  EXPECT_EQ(Held(), Ints({2, 4}));
}

TEST_F(LedgerFormsTest, APictureReadAnewIsReadByItsForm) {
  Ledger fresh(FormReader(), base::SeededRandom(1));
  const std::vector<state::Change> picture = {Changed("10.0.0.1", state::testing::Wire("")),
                                              Changed("bits", Bits({2, 3})),
                                              Changed("form", state::testing::Wire("to-records")),
                                              Changed("r10.0.0.0_29", state::testing::Wire(""))};
  fresh.OnReset(picture, revision_);
  EXPECT_FALSE(LedgerView(fresh).IsHeld(Value(1)));
  EXPECT_TRUE(LedgerView(fresh).IsHeld(Value(2)));
  fresh.OnBatch({Changed("form", state::testing::Wire("records"))}, revision_);
  EXPECT_TRUE(LedgerView(fresh).IsHeld(Value(1)));
  EXPECT_FALSE(LedgerView(fresh).IsHeld(Value(2)));
}

TEST_F(LedgerFormsTest, WhatServicesHoldIsTakenInEveryForm) {
  Put("s-web", "10.0.0.1 10.0.0.2");
  Put("10.0.0.2");
  PutBits({});
  Put("form", "to-bitmaps");
  PutBits({2});
  Put("form", "bitmaps");
  EXPECT_EQ(Held(), Ints({1, 2})) << "without a record or a bit, and with both";
  PutBits({});
  EXPECT_EQ(Held(), Ints({1, 2})) << "a bit that somebody clears frees nothing";
  PutBits({1, 4});
  Put("form", "to-records");
  Put("10.0.0.2");
  Put("10.0.0.5");
  EXPECT_EQ(Held(), Ints({1, 2, 4}));
  Put("form", "records");
  EXPECT_EQ(Held(), Ints({1, 2, 5}));
  Delete("s-web");
  EXPECT_EQ(Held(), Ints({2, 5})) << "what has a record";
}

TEST_F(LedgerFormsTest, TheBitOfAValueOfTwoServicesIsNotCleared) {
  Put("form", "bitmaps");
  PutBits({1, 2});
  Put("s-one", "10.0.0.1 10.0.0.2");
  Put("s-two", "10.0.0.1");
  const auto both = Request({}, {Value(1), Value(2)});
  ASSERT_TRUE(both);
  const auto puts = BitmapPuts(*both);
  ASSERT_THAT(puts, SizeIs(1));
  std::optional<std::string> stored = puts[0].read(*objects_["bits"]);
  ASSERT_TRUE(puts[0].apply(stored));
  EXPECT_EQ(*stored, Bits({1}).hidden);
  Delete("s-one");
  Tell({Changed("bits", Bits({1}))});
  ledger_.EndGrant(*both);
  EXPECT_EQ(Held(), Ints({1}));
  const auto last = Request({}, {Value(1)});
  ASSERT_TRUE(last);
  EXPECT_THAT(BitmapPuts(*last), SizeIs(1));
  ledger_.EndGrant(*last);
}

TEST_F(LedgerFormsTest, InFlightOverAChangeOfForm) {
  PutBits({});
  Put("10.0.0.5");
  const auto grant = Request({The(4)}, {Value(5)});
  ASSERT_TRUE(grant);
  Put("form", "to-bitmaps");
  PutBits({5});
  Put("form", "bitmaps");
  EXPECT_EQ(Held(), Ints({4, 5}));
  ledger_.EndGrant(*grant);  // It was in conflict with the note.
  EXPECT_EQ(Held(), Ints({5}));
}

TEST_F(LedgerFormsTest, OnlyTheFirstRangeHasBits) {
  Put("r10.1.0.0_29", "priority=7");
  Put("form", "to-bitmaps");
  PutBits({});
  EXPECT_THAT(LedgerView(ledger_).Ranges(), SizeIs(1));
  const U128 elsewhere = ip::ParseAddr("10.1.0.1").value().bits();
  const auto denied = Request({{.pool = PoolId::kIpv4, .wanted = elsewhere}}, {});
  ASSERT_FALSE(denied);
  EXPECT_EQ(denied.error().why, Why::kOutOfRange);
  Put("form", "records");
  EXPECT_THAT(LedgerView(ledger_).Ranges(), SizeIs(2));
}

TEST_F(LedgerFormsTest, NothingCoolsWhereThereAreBitmaps) {
  Put("r10.0.0.0_29", "cool=60");
  Put("form", "to-bitmaps");
  Put("10.0.0.1");
  const auto grant = Request({}, {Value(1)});
  ASSERT_TRUE(grant);
  EXPECT_EQ(grant->releases[0].becomes, ReleasedValue::Becomes::kGone);
  ledger_.EndGrant(*grant);
}

}  // namespace
}  // namespace berth::allocation
