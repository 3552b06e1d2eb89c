#include "allocation/bitmaps/stored_bitmaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codec/proto_frame.h"
#include "codec/protobuf.h"
#include "codec/range_allocation.h"
#include "commit/sequencer.h"
#include "ip/port_range.h"
#include "state/follower.h"
#include "state/testing/test_store.h"
#include "state/wire_bitmap.h"

namespace berth::allocation {
namespace {

using alloc::U128;
using state::testing::ServiceKey;
using std::string_literals::operator""s;

const std::string kPortKey{kBitmaps[BitmapId::kPorts].key};

BitmapLayout PortLayout() { return BitmapLayout::Of(ip::PortRange(30000, 32767)); }

std::string Stored(const std::string& data) {
  return codec::WriteRangeAllocation("30000-32767", data);
}

/// Returns the outcome of a change: the bytes, the error, or "again".
std::string Applied(std::optional<std::string> stored, BitmapChange change) {
  const commit::SharedPut put = BitmapPut(BitmapId::kPorts, PortLayout(), std::move(change));
  const std::optional<std::string> before = stored;
  const auto applied = put.apply(stored);
  if (applied && *applied) return stored.value_or("nothing");
  EXPECT_EQ(stored, before) << "it is left alone";
  return applied ? "again" : applied.error().message;
}

TEST(BitmapPutTest, ChangesJustTheBits) {
  EXPECT_EQ(Applied(Stored("\x01\x01"s), {.takes = {30001}, .releases = {30000}}),
            Stored("\x01\x02"s));
  EXPECT_EQ(Applied(Stored("\x01"), {.takes = {30000 + 800}}),
            Stored("\x01"s + std::string(99, '\0') + "\x01"s))
      << "it gets longer";
  EXPECT_EQ(Applied(Stored("\x01\0\0\x01"s), {.releases = {30024}}), Stored("\x01"))
      << "and shorter";
  EXPECT_EQ(Applied(Stored("\x01"), {.releases = {30000, 80}}), Stored(""));
  EXPECT_EQ(Applied(Stored(""), {.takes = {30000}}), Stored("\x01"));
}

TEST(BitmapPutTest, WhatAnotherHasTakenIsDecidedAgain) {
  EXPECT_EQ(Applied(Stored("\x01"), {.takes = {30000}}), "again");
}

TEST(BitmapPutTest, OnlyItsOwnRangeIsChanged) {
  EXPECT_EQ(Applied(codec::WriteRangeAllocation("30000-30001", ""), {.takes = {30000}}),
            "the provided port range does not match the current port range");
  EXPECT_EQ(Applied(Stored(""), {.takes = {80}}),
            "value 80 has no bit in the bitmap of 30000-32767");
}

TEST(BitmapPutTest, WithoutABitmapNothingIsTakenAndNothingNeedsToBeGivenBack) {
  EXPECT_EQ(Applied(std::nullopt, {.takes = {30000}}),
            "cannot allocate resources of type servicenodeportallocations at this time");
  EXPECT_EQ(Applied(std::nullopt, {.releases = {30000}}), "nothing");
}

/// A writer of protobuf may leave out an empty field.
TEST(BitmapPutTest, ABitmapWithoutDataHasNoBits) {
  std::string fields;
  codec::AppendProtoField(fields, 2, "30000-32767");
  const std::string bare = codec::WrapEnvelope("v1", "RangeAllocation", fields);
  EXPECT_EQ(Applied(bare, {.releases = {30000}}), bare);
  EXPECT_EQ(codec::ReadRangeAllocation(Applied(bare, {.takes = {30000}}))->data, "\x01"s);
}

/// Services of the test resources, and real bitmaps.
class BitmapsTest : public ::testing::Test {
 protected:
  static state::Resources MakeResources() {
    std::vector<state::Resource> rows;
    rows.push_back({.name = "services",
                    .prefix = "/registry/services/specs/",
                    .namespaced = true,
                    .decode = state::testing::Decode});
    rows.push_back(
        {.name = "ranges", .prefix = "/registry/ranges/", .decode = state::BitmapToWire});
    return state::Resources(std::move(rows));
  }

  void SetUp() override {
    store::MemoryOptions options;
    options.fault = [this](const store::Txn& /*txn*/) {
      ++transactions_;
      return std::exchange(next_, store::Fault::kNone);
    };
    store_.Open(std::move(options));
    follower_.emplace(*store_.engine, resources_, std::vector<state::Listener*>{},
                      state::FollowerOptions{}, store_.clock, store_.log);
    sequencer_.emplace(
        commit::SequencerParts{*store_.engine, *follower_, resources_, store_.clock, *follower_},
        commit::SequencerOptions{});
    store_.Put(kPortKey, Stored(""));
    PumpAll();
  }
  void PumpAll() {
    while (follower_->Pump()) {
    }
  }
  /// Creates a Service that takes the first of these ports that is free in the snapshot.
  void Create(int number, std::vector<U128> ports) {
    sequencer_->Submit(
        {.key = ServiceKey("n", std::to_string(number)),
         .transform = [this, ports = std::move(ports)](const state::Snapshot&,
                                                       const state::ObjectPtr&) -> commit::Decided {
           const auto now = follower_->Current()->Find(kPortKey);
           U128 port = ports.front();
           for (const U128 one : ports) {
             port = one;
             if (!IsBitSet(ViewOf(*now).data, *PortLayout().BitOf(one))) break;
           }
           commit::Decision decision{.kind = commit::Decision::Kind::kPut,
                                     .stored = state::testing::Stored("x"),
                                     .wire = state::testing::Wire("x")};
           decision.shared = {BitmapPut(BitmapId::kPorts, PortLayout(), {.takes = {port}})};
           return decision;
         }},
        [this](const base::Result<commit::Written>& written) {
          if (written) ++created_;
        });
  }
  std::vector<U128> Taken() {
    const std::string stored = (*store::GetNow(*store_.engine, kPortKey))->value;
    const auto read = codec::ReadRangeAllocation(stored);
    return CompareBitmaps(PortLayout(), {}, read->data).taken;
  }

  state::testing::TestStore store_;
  const state::Resources resources_ = MakeResources();
  std::optional<state::Follower> follower_;
  std::optional<commit::Sequencer> sequencer_;
  store::Fault next_ = store::Fault::kNone;
  size_t transactions_ = 0;
  int created_ = 0;
};

TEST_F(BitmapsTest, ThePictureHasThemAsTheyAreStored) {
  store_.Put(kPortKey, Stored("\x05"));
  PumpAll();
  const state::ObjectPtr object = follower_->Current()->Find(kPortKey);
  ASSERT_TRUE(object);
  EXPECT_EQ(object->Hidden(), Stored("\x05"));
  EXPECT_EQ(ViewOf(*object).range, "30000-32767");
  EXPECT_EQ(ViewOf(*object).data, "\x05");
  std::string json;
  object->AppendJson(json);
  EXPECT_EQ(json, R"({"kind":"RangeAllocation","apiVersion":"v1","metadata":{"resourceVersion":")" +
                      std::to_string(object->Revision()) + R"("},"range":"30000-32767"})");
  store_.Put(kPortKey, "garbage");
  PumpAll();
  EXPECT_TRUE(follower_->IsUndecodable(kPortKey));
}

TEST_F(BitmapsTest, AThousandServicesAndFewTransactions) {
  next_ = store::Fault::kHold;
  for (int i = 0; i < 1000; ++i) Create(i, {U128(30000 + i)});
  while (store_.engine->Release()) PumpAll();
  EXPECT_EQ(created_, 1000);
  EXPECT_EQ(Taken().size(), 1000U);
  EXPECT_LE(transactions_, 6U);
}

TEST_F(BitmapsTest, APortThatAnotherServerHasTakenIsNotTakenTwice) {
  next_ = store::Fault::kHold;
  Create(0, {30000});
  Create(1, {30001, 30002});
  ASSERT_TRUE(store_.engine->Release());
  store_.Put(kPortKey, Stored("\x03"));  // With 30001.
  PumpAll();
  EXPECT_EQ(created_, 2);
  EXPECT_EQ(Taken(), (std::vector<U128>{30000, 30001, 30002}));
}

}  // namespace
}  // namespace berth::allocation
