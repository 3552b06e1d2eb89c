#include "inspect/range_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "base/testing/base_kit.h"
#include "inspect/names.h"
#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using alloc::Interval;
using alloc::State;
using base::U128;
using rules::RecordState;

/// Returns the marks of cells in a row, a letter for each.
std::string Marks(const std::vector<MapCell>& cells) {
  std::string out;
  for (const MapCell& cell : cells) out += "-.tNSRC!x"[static_cast<size_t>(cell.Mark())];
  return out;
}

MapCell Sum(const std::vector<MapCell>& cells) {
  MapCell sum = cells.front();
  for (size_t i = 1; i < cells.size(); ++i) sum.Add(cells[i]);
  return sum;
}

TEST(RangeMapTest, EachStateHasAMark) {
  SmallCluster small;
  small
      .Range("10.0.0.0/27")  // The static band is 10.0.0.1 to 10.0.0.16.
      .Add({.name_space = "a", .name = "a", .values = {"10.0.0.1"}, .origin = Origin::kNamed})
      .Add({.name_space = "a", .name = "b", .values = {"10.0.0.2"}, .origin = Origin::kDrawn})
      .Add({.name_space = "a", .name = "c", .values = {"10.0.0.17"}, .origin = Origin::kNamed})
      .Add({.name_space = "a", .name = "d", .values = {"10.0.0.18"}, .origin = Origin::kDrawn})
      .Add({.name_space = "a", .name = "e", .values = {"10.0.0.19"}})
      .Add({.name_space = "a", .name = "f", .values = {"10.0.0.20"}})
      .Add({.name_space = "a", .name = "g", .values = {"10.0.0.20"}})
      .Record("10.0.0.3", RecordState::kReserved, "")
      .Record("10.0.0.21", RecordState::kFree, "")
      .Record("10.0.0.22", RecordState::kAllocated, "a/gone");
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const RangeRef& range = census.ranges().front();
  const Interval all = AllValuesOf(*range.row);
  EXPECT_EQ(Marks(MapCells(census, range, all, 32)), "xtSR-------------Ntt!Ct........x");
  EXPECT_EQ(Marks(MapCells(census, range, all, 8)), "S---t!..");
  EXPECT_EQ(Marks(MapCells(census, range, all, 1)), "!");
  const Interval outside{.first = all.last + 1, .last = all.last + 4};
  EXPECT_EQ(Marks(MapCells(census, range, outside, 4)), "xxxx");
}

TEST(RangeMapTest, CellsAreBoundedAndEqual) {
  SmallCluster small;
  const Cluster cluster = small.Range("10.0.0.0/8").Range("30000-32767").Finish();
  const Census census(cluster);
  const RangeRef& range = census.ranges().front();
  const Interval all = AllValuesOf(*range.row);
  EXPECT_EQ(MapCells(census, range, all, 10'000'000).size(), kMostCells);
  EXPECT_EQ(MapCells(census, range, all, 0).size(), 1U);
  EXPECT_EQ(MapCellsOfSize(census, range, all, 1).size(), kMostCells);
  const RangeRef& ports = census.ranges().back();
  const auto cells = MapCellsOfSize(census, ports, AllValuesOf(*ports.row), 100);
  ASSERT_EQ(cells.size(), 28U);
  EXPECT_EQ(cells.back().values.Size(), 68U);
}

TEST(RangeMapTest, TheWholePoolIsNoSpecialCase) {
  SmallCluster small;
  small.Range("::/0").Add({.name_space = "a", .name = "a", .values = {"fd00::1"}});
  const Cluster cluster = small.Finish();
  const Census census(cluster);
  const RangeRef& range = census.ranges().front();
  for (const size_t count : {size_t{1}, size_t{64}}) {
    const auto cells = MapCells(census, range, {.first = 0, .last = base::kU128Max}, count);
    EXPECT_EQ(Sum(cells).counts[State::kTaken], 1U);
    EXPECT_EQ(cells.back().values.last, base::kU128Max);
  }
}

TEST(RangeMapTest, AZoomTakesPartsOfParts) {
  const Interval whole{.first = 0x0a000000, .last = 0x0affffff};
  EXPECT_EQ(ZoomedPart(whole, 0x0a123456, 0), whole);
  EXPECT_EQ(ZoomedPart(whole, 0x0a123456, 1), (Interval{0x0a100000, 0x0a1fffff}));
  EXPECT_EQ(ZoomedPart(whole, 0x0a123456, 2), (Interval{0x0a120000, 0x0a12ffff}));
  EXPECT_EQ(ZoomedPart(whole, 0x0a123456, 5), (Interval{0x0a123450, 0x0a12345f}));
  EXPECT_EQ(ZoomedPart(whole, 0x0a123456, 32), (Interval{0x0a123450, 0x0a12345f}));
  EXPECT_EQ(ZoomedPart(whole, 0, 1).first, whole.first);
  EXPECT_EQ(ZoomedPart({.first = 0, .last = base::kU128Max}, base::kU128Max, 1).last,
            base::kU128Max);
}

/// A cluster with random uses and records of one range.
struct RandomWorld {
  SmallCluster small;
  std::string range;

  explicit RandomWorld(std::mt19937_64& random) {
    static const std::vector<std::string> kRanges = {"10.0.0.0/24", "10.0.0.0/12", "fd00::/64",
                                                     "30000-32767", "10.0.0.0/30", "fd00::/112"};
    range = kRanges[random() % kRanges.size()];
    small.Range(range);
    const auto written = ReadWrittenRange(range).value().value();
    const U128 distance = written.values.last - written.values.first;
    for (uint64_t i = random() % 60; i > 0; --i) {
      // Some values lie outside, and some are at both ends.
      const U128 offset = random() % 4 == 0 ? random() % 8 : U128{random()} % (distance + 3);
      const std::string value =
          alloc::TextOf({.pool = written.pool, .value = written.values.first + offset});
      if (random() % 3 == 0) {
        small.Record(value, static_cast<RecordState>(random() % 4), "a/b");
      } else {
        small.Add({.name_space = "a",
                   .name = "s" + std::to_string(i),
                   .values = {value},
                   .origin = static_cast<Origin>(random() % 3)});
      }
    }
  }
};

TEST(RangeMapTest, CellsOfEveryZoomAddUpToTheCensus) {
  const uint64_t seed = base::TestSeed(7);
  SCOPED_TRACE("BERTH_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int64_t round = 0; round < base::LongCount(3000) && !HasFailure(); ++round) {
    RandomWorld world(random);
    const Cluster cluster = world.small.Finish();
    const Census census(cluster);
    const RangeRef& range = *std::ranges::find_if(
        census.ranges(), [&](const RangeRef& each) { return each.row->text == world.range; });
    const Interval all = AllValuesOf(*range.row);
    const RangeFigures figures = census.FiguresOf(range);
    // The census counts the span only, and the map all values of the range.
    const auto cells = MapCells(census, range, *range.row->layout.span(), random() % 300);
    const MapCell sum = Sum(cells);
    EXPECT_TRUE(sum.counts == figures.Counts()) << world.range << " round " << round;
    EXPECT_EQ(sum.spill, figures.Spill());
    EXPECT_EQ(sum.named_in_dynamic, figures.dynamic_band.named);
    const auto whole = MapCells(census, range, all, random() % 300);
    const MapCell& cell = whole[random() % whole.size()];
    const MapCell closer = Sum(MapCells(census, range, cell.values, random() % 300));
    EXPECT_TRUE(closer.counts == cell.counts) << world.range << " round " << round;
    EXPECT_EQ(closer.twice, cell.twice);
    EXPECT_EQ(closer.values, cell.values);
    EXPECT_EQ(closer.Mark(), cell.Mark());
  }
}

}  // namespace
}  // namespace berth::inspect
