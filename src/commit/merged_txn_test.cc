#include "commit/merged_txn.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commit/testing/ops.h"
#include "commit/testing/shared_puts_fixture.h"

namespace berth::commit {
namespace {

using state::testing::Stored;
using testing::kMap;
using testing::kOther;
using testing::Marking;
using testing::Service;
using Added = MergedTxnBuilder::Added;

/// Returns a transaction that creates an object.
store::Txn Creating(const std::string& name) {
  return {.compares = {{.key = Service(name), .revision = {0}}},
          .puts = {{.key = Service(name), .value = Stored(name)}}};
}

class MergedTxnTest : public ::testing::Test {
 protected:
  MergedTxnBuilder Builder(size_t max_items = 100) {
    parts_.PumpAll();
    return {*parts_.follower, parts_.store.resources, max_items};
  }
  static Added AddTo(MergedTxnBuilder& builder, store::Txn txn,
                     const std::vector<SharedPut>& shared) {
    const Added added = builder.Add(txn, 0, shared);
    const bool empty = txn.puts.empty() && txn.deletes.empty() && txn.compares.empty();
    EXPECT_EQ(empty, added == Added::kYes);
    return added;
  }

  testing::TestParts parts_;
};

TEST_F(MergedTxnTest, ASharedKeyIsPutOnceWithTheChangesOfAll) {
  const int64_t before = parts_.store.Put(kMap, Stored("0"));
  MergedTxnBuilder builder = Builder();
  EXPECT_EQ(AddTo(builder, Creating("a"), {Marking(kMap, "a")}), Added::kYes);
  EXPECT_EQ(AddTo(builder, Creating("b"), {Marking(kMap, "b")}), Added::kYes);
  const MergedTxn merged = builder.Build();
  ASSERT_EQ(merged.txn.puts.size(), 3U);
  EXPECT_EQ(merged.txn.puts[2].key, kMap);
  EXPECT_EQ(merged.txn.puts[2].value, Stored("0ab"));
  ASSERT_EQ(merged.txn.compares.size(), 3U);
  EXPECT_EQ(merged.first_shared_compare, 2U);
  EXPECT_EQ(merged.txn.compares[2].revision.value, before);
  ASSERT_EQ(merged.parts.size(), 2U);
  EXPECT_EQ(merged.parts[1].object_put, 1U);
  EXPECT_EQ(merged.parts[1].compares, std::vector<size_t>{1});
  ASSERT_EQ(merged.keys.size(), 1U);
  EXPECT_EQ(merged.keys[0].before, before);
}

TEST_F(MergedTxnTest, ComparesAreSharedAndWritesClash) {
  const store::Compare fence{.key = kOther, .revision = {parts_.store.Put(kOther, Stored("f"))}};
  MergedTxnBuilder builder = Builder();
  store::Txn one = Creating("a");
  one.compares.push_back(fence);
  store::Txn two = Creating("b");
  two.compares.push_back(fence);
  EXPECT_EQ(AddTo(builder, one, {Marking(kMap, "a")}), Added::kYes);
  EXPECT_EQ(AddTo(builder, two, {Marking(kMap, "b")}), Added::kYes);
  EXPECT_EQ(AddTo(builder, Creating("a"), {Marking(kMap, "c")}), Added::kClashes);
  EXPECT_EQ(AddTo(builder, {.deletes = {kOther}}, {Marking(kMap, "c")}), Added::kClashes);
  EXPECT_EQ(AddTo(builder, {.deletes = {kMap}}, {}), Added::kClashes);
  EXPECT_EQ(AddTo(builder, Creating("c"), {Marking(kOther, "c")}), Added::kClashes);
  const MergedTxn merged = builder.Build();
  EXPECT_EQ(merged.txn.compares.size(), 4U);
  EXPECT_EQ(merged.parts[1].compares, (std::vector<size_t>{2, 1}));
}

TEST_F(MergedTxnTest, OnlyTheFirstMayBeTooLarge) {
  MergedTxnBuilder builder = Builder(2);
  store::Txn large = Creating("a");
  large.deletes = {"/r/x", "/r/y"};
  EXPECT_EQ(AddTo(builder, std::move(large), {Marking(kMap, "a")}), Added::kYes);
  EXPECT_EQ(AddTo(builder, Creating("b"), {Marking(kMap, "b")}), Added::kFull);
}

TEST_F(MergedTxnTest, AWriteThatWasDecidedOnAnOlderStateIsNotAdded) {
  MergedTxnBuilder before = Builder();
  parts_.store.Put(Service("a"), Stored("a"));
  EXPECT_EQ(AddTo(before, Creating("a"), {Marking(kMap, "a")}), Added::kYes) << "not seen yet";
  MergedTxnBuilder after = Builder();
  EXPECT_EQ(AddTo(after, Creating("a"), {Marking(kMap, "a")}), Added::kOutdated);
}

TEST_F(MergedTxnTest, AWriteThatIsNotAppliedLeavesNothingBehind) {
  const auto answering = [](const base::Result<bool>& answer) {
    SharedPut put = Marking(kOther, "?");
    put.apply = [answer](std::optional<std::string>&) { return answer; };
    return put;
  };
  MergedTxnBuilder builder = Builder();
  EXPECT_EQ(AddTo(builder, Creating("a"), {Marking(kMap, "a")}), Added::kYes);
  EXPECT_EQ(AddTo(builder, Creating("b"), {Marking(kMap, "b"), answering(false)}),
            Added::kDecideAgain);
  EXPECT_EQ(AddTo(builder, Creating("c"),
                  {Marking(kMap, "c"), answering(base::Fail(base::Reason::kInvalid, "full"))}),
            Added::kFailed);
  EXPECT_EQ(builder.Failure().message, "full");
  const MergedTxn merged = builder.Build();
  ASSERT_EQ(merged.txn.puts.size(), 2U);
  EXPECT_EQ(merged.txn.puts[1].value, Stored("a"));
  EXPECT_EQ(merged.keys.size(), 1U) << "a key that no write has changed is not put";
}

TEST_F(MergedTxnTest, ASharedKeyThatCannotBeDecodedIsNotOverwritten) {
  parts_.store.Put(kMap, "broken");
  MergedTxnBuilder builder = Builder();
  EXPECT_EQ(AddTo(builder, Creating("a"), {Marking(kMap, "a")}), Added::kFailed);
  EXPECT_EQ(builder.Failure().reason, base::Reason::kInternalError);
}

}  // namespace
}  // namespace berth::commit
