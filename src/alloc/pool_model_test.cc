// Compares the pool, operation by operation, with a naive one that keeps everything in sets. It
// uses random ranges that overlap, open and close, and values in every state.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "alloc/pool.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "ip/port_range.h"

namespace berth::alloc {
namespace {

constexpr uint16_t kMost = 300;

/// Everything a pool promises, computed the slow way.
struct Model {
  std::vector<RangeRow> rows;
  std::map<U128, State> held;

  State Get(U128 value) const {
    const auto found = held.find(value);
    return found == held.end() ? State::kFree : found->second;
  }
  static bool Excluded(const RangeRow& row, U128 value) {
    const auto& excluded = row.layout.excluded();
    return std::any_of(excluded.begin(), excluded.end(),
                       [value](const Interval& each) { return each.Contains(value); });
  }
  /// Returns the values that a pick may return.
  std::set<U128> Pickable(const RangeRow& row) const {
    std::set<U128> pickable;
    if (!row.open || !row.layout.span()) return pickable;
    for (U128 value = row.layout.span()->first; value <= row.layout.span()->last; ++value) {
      const bool dynamic = row.layout.BandOf(value) == Band::kDynamic;
      if (Excluded(row, value) || Get(value) != State::kFree) continue;
      if (dynamic || !row.layout.strict()) pickable.insert(value);
    }
    return pickable;
  }
  U128 Available() const {
    U128 sum = 0;
    for (const RangeRow& row : rows) sum += Pickable(row).size();
    return sum;
  }
  Outcome Take(U128 value, bool reserved_too) {
    bool in_any = false;
    bool in_open = false;
    bool given = false;
    for (const RangeRow& row : rows) {
      if (!row.layout.Contains(value)) continue;
      in_any = true;
      in_open |= row.open;
      given |= row.open && !Excluded(row, value);
    }
    if (!in_any) return Outcome::kOutOfRange;
    if (Get(value) == State::kTaken) return Outcome::kTaken;
    if (Get(value) == State::kReserved && !reserved_too) return Outcome::kReserved;
    if (!in_open) return Outcome::kNotOpen;
    if (!given) return Outcome::kExcluded;
    held[value] = State::kTaken;
    return Outcome::kDone;
  }
  /// Returns whether a pick may return the value. Of the rows that have a pickable value, it must
  /// come from one with the highest priority, and of those from one with the most free values.
  bool MayComeFrom(U128 value) const {
    std::optional<std::pair<int64_t, size_t>> best;
    bool fits = false;
    for (const RangeRow& row : rows) {
      const std::set<U128> pickable = Pickable(row);
      if (pickable.empty()) continue;
      const std::pair rank(row.priority, pickable.size());
      if (!best || rank > *best) fits = false;
      if (!best || rank >= *best) {
        best = rank;
        fits |= pickable.contains(value);
      }
    }
    return fits;
  }
};

class PoolModelTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  uint64_t Below(uint64_t bound) { return base::Uniform(random_, bound); }

  RangeRow SomeRow(size_t number) {
    const auto first = static_cast<uint16_t>(1 + Below(kMost));
    const auto last = static_cast<uint16_t>(first + Below(Below(3) == 0 ? 200 : 30));
    const std::string text = std::to_string(first) + "-" + std::to_string(last);
    RangeOptions options{.strict = Below(4) == 0};
    if (Below(3) == 0) options.excluded = {{first, first + Below(10)}};
    return {.name = "r" + std::to_string(number),
            .text = text,
            .layout = *LayoutOf(*ip::ParsePortRange(text), options),
            .priority = static_cast<int64_t>(Below(3)),
            .open = Below(4) != 0};
  }
  void ChangeRanges() {
    std::vector<RangeRow>& rows = model_.rows;
    const uint64_t what = Below(4);
    if (what == 0 && !rows.empty()) {
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(Below(rows.size())));
    } else if (what == 1 && !rows.empty()) {
      RangeRow& row = rows[Below(rows.size())];
      row.open = !row.open;
      row.priority = static_cast<int64_t>(Below(3));
    } else if (what == 2 && !rows.empty()) {
      rows.push_back(rows[Below(rows.size())]);  // The same values twice.
      rows.back().name = "r" + std::to_string(next_++);
    } else if (rows.size() < 12) {
      rows.push_back(SomeRow(next_++));
    }
    pool_.SetRanges(rows);
  }
  void PutSome() {
    constexpr State kAll[] = {State::kFree, State::kTaken, State::kReserved, State::kCooling};
    const U128 value = 1 + Below(kMost + 50);
    const State state = kAll[Below(4)];
    EXPECT_EQ(pool_.Put(value, state), model_.Get(value) != state);
    if (state == State::kFree) {
      model_.held.erase(value);
    } else {
      model_.held[value] = state;
    }
  }
  void TakeSome() {
    const U128 value = 1 + Below(kMost + 50);
    const bool reserved_too = Below(2) == 0;
    EXPECT_EQ(reserved_too ? pool_.TakeReserved(value) : pool_.Take(value),
              model_.Take(value, reserved_too));
  }
  void TakeAny() {
    const auto value = pool_.TakeAny(random_);
    ASSERT_EQ(value.has_value(), model_.Available() > 0);
    if (!value) return;
    EXPECT_TRUE(model_.MayComeFrom(*value));
    model_.held[*value] = State::kTaken;
  }
  void TakeNamed() {
    if (model_.rows.empty()) return;
    const RangeRow& row = model_.rows[Below(model_.rows.size())];
    const Pool::Range* range = pool_.Named(row.name);
    ASSERT_NE(range, nullptr);
    const std::set<U128> pickable = model_.Pickable(row);
    EXPECT_EQ(pool_.Available(*range), pickable.size());
    const auto value = pool_.TakeAny(random_, *range);
    ASSERT_EQ(value.has_value(), !pickable.empty());
    if (!value) return;
    EXPECT_TRUE(pickable.contains(*value));
    model_.held[*value] = State::kTaken;
  }
  void CheckAll() {
    ASSERT_EQ(pool_.Available(), model_.Available());
    for (U128 value = 1; value <= kMost + 50; ++value) {
      ASSERT_EQ(pool_.Get(value), model_.Get(value));
      std::optional<U128> smallest;
      for (const RangeRow& row : model_.rows) {
        if (!row.layout.Contains(value)) continue;
        smallest = std::min(smallest.value_or(base::kU128Max), row.layout.span()->Size());
      }
      const Pool::Range* found = pool_.Find(value);
      ASSERT_EQ(found != nullptr, smallest.has_value());
      if (found != nullptr) {
        ASSERT_EQ(found->index.layout().span()->Size(), *smallest);
      }
    }
    for (size_t i = 0; i < model_.rows.size(); ++i) CheckCounts(i);
    CheckShares();
  }
  /// Returns the position of the smallest row that contains the value and fits.
  template <typename Fits>
  std::optional<size_t> SmallestWith(U128 value, const Fits& fits) const {
    std::optional<size_t> best;
    for (size_t i = 0; i < model_.rows.size(); ++i) {
      const RangeRow& row = model_.rows[i];
      if (!row.layout.Contains(value) || !fits(row)) continue;
      const U128 size = row.layout.span()->Size();
      if (!best || size < model_.rows[*best].layout.span()->Size()) best = i;
    }
    return best;
  }
  void CheckShares() {
    std::vector<std::pair<U128, U128>> expected(model_.rows.size());
    for (U128 value = 1; value <= U128{2} * kMost; ++value) {
      const State state = model_.Get(value);
      const auto home = SmallestWith(value, [](const RangeRow&) { return true; });
      const bool counts = state == State::kTaken || (state == State::kReserved && home &&
                                                     !Model::Excluded(model_.rows[*home], value));
      if (counts && home) ++expected[*home].first;
      const auto giving = SmallestWith(
          value, [value](const RangeRow& row) { return row.open && !Model::Excluded(row, value); });
      const bool can_be_had = state == State::kFree || state == State::kCooling;
      if (can_be_had && giving) ++expected[*giving].second;
    }
    const std::vector<Pool::Share> shares = pool_.Shares();
    ASSERT_EQ(shares.size(), expected.size());
    for (size_t i = 0; i < shares.size(); ++i) {
      ASSERT_EQ(std::pair(shares[i].allocated, shares[i].available), expected[i]) << i;
    }
  }
  void CheckCounts(size_t i) {
    const RangeRow& row = model_.rows[i];
    StateCounts counts;
    for (U128 value = row.layout.span()->first; value <= row.layout.span()->last; ++value) {
      const State state = model_.Get(value);
      const bool noted = state == State::kTaken || !Model::Excluded(row, value);
      ++counts[noted ? state : State::kExcluded];
    }
    ASSERT_EQ(pool_.ranges()[i].name, row.name);
    ASSERT_EQ(pool_.ranges()[i].index.Counts(), counts);
  }

  base::SeededRandom random_{GetParam()};
  Model model_;
  Pool pool_;
  size_t next_ = 0;
};

TEST_P(PoolModelTest, EveryAnswerIsTheSame) {
  for (int64_t step = 0; step < base::LongCount(20000) && !HasFailure(); ++step) {
    SCOPED_TRACE(step);
    const uint64_t what = Below(16);
    if (what < 2) {
      ChangeRanges();
    } else if (what < 6) {
      PutSome();
    } else if (what < 10) {
      TakeSome();
    } else if (what < 13) {
      TakeAny();
    } else {
      TakeNamed();
    }
    if (step % 10 == 0) CheckAll();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, PoolModelTest, ::testing::Range(uint64_t{1}, uint64_t{9}));

}  // namespace
}  // namespace berth::alloc
