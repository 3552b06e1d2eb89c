#include "inspect/tile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "inspect/names.h"
#include "inspect/testing/small_cluster.h"

namespace berth::inspect {
namespace {

using alloc::State;
using base::U128;
using rules::RecordState;
using ::testing::ElementsAre;

/// A cluster with what is made of it once.
struct TiledCluster {
  Cluster cluster;
  Census census;
  UsedValues used;

  explicit TiledCluster(SmallCluster& small)
      : cluster(small.Finish()), census(cluster), used(census) {}

  const RangeRef& Range(std::string_view text) const {
    return *std::ranges::find_if(census.ranges(),
                                 [&](const RangeRef& each) { return each.row->text == text; });
  }
  base::Result<Tile> Make(std::string_view range, unsigned bits, U128 index = 0,
                          std::string_view find = "") const {
    return MakeTile(used, Range(range), {.bits = bits, .index = index},
                    Matches(census, used, Filter::Read(find).value()));
  }
};

/// Returns the runs of a tile, "0+16 freeStatic" each.
std::vector<std::string> RunsOf(const Tile& tile) {
  std::vector<std::string> out;
  for (const TileRun& run : tile.runs) {
    out.push_back(fmt::format("{}+{} {}", run.first, run.count,
                              run.mark ? NameOf(*run.mark) : std::string_view("outside")));
  }
  return out;
}

/// Returns the cells of a tile, "3 taken 1/1" each.
std::vector<std::string> CellsOf(const Tile& tile) {
  std::vector<std::string> out;
  for (const TileCell& cell : tile.cells) {
    out.push_back(fmt::format("{} {} {}/{}", cell.cell, NameOf(cell.mark),
                              base::ToDecimal(cell.used), base::ToDecimal(cell.usable)));
  }
  return out;
}

TEST(TileTest, OnlyWhatIsInUseIsListed) {
  SmallCluster small;
  small.Range("10.0.0.0/24")
      .Add({.name = "web",
            .values = {"10.0.0.5", "10.0.0.200"},
            .origin = Origin::kNamed,
            .type = "NodePort",
            .created = "2026-01-02T03:04:05Z"})
      .Record("10.0.0.7", RecordState::kReserved, "blog/later");
  const TiledCluster tiled(small);
  const auto tile = tiled.Make("10.0.0.0/24", 0);
  ASSERT_TRUE(tile.has_value());
  EXPECT_THAT(RunsOf(*tile),
              ElementsAre("0+1 excluded", "1+4 freeStatic", "6+1 freeStatic", "8+9 freeStatic",
                          "17+183 free", "201+54 free", "255+1 excluded", "256+3840 outside"));
  EXPECT_THAT(CellsOf(*tile),
              ElementsAre("5 taken 1/1", "7 reserved 1/1", "200 namedInDynamic 1/1"));
  const TileCell& cell = tile->cells.front();
  EXPECT_EQ(cell.owner, "shop/web");
  EXPECT_EQ(tile->cells[1].owner, "blog/later");
  EXPECT_EQ(tiled.used.namespaces()[cell.name_space], "shop");
  EXPECT_EQ(tiled.used.namespaces()[tile->cells[1].name_space], "blog");
  EXPECT_EQ(tiled.used.types()[cell.type], "NodePort");
  EXPECT_EQ(cell.newest, 1767323045U);
  EXPECT_EQ(cell.named, 1U);
}

TEST(TileTest, LargeCellsTellWhoHoldsMost) {
  SmallCluster small;
  small.Range("fd00::/64")
      .Add({.name_space = "a", .name = "x", .values = {"fd00::1", "fd00::2"}})
      .Add({.name_space = "b", .name = "y", .values = {"fd00::3"}, .type = "LoadBalancer"})
      .Add({.name_space = "b", .name = "z", .values = {"fd00::ffff:0:0:0"}});
  const TiledCluster tiled(small);
  const auto tile = tiled.Make("fd00::/64", 52, 0, "namespace:b");
  ASSERT_TRUE(tile.has_value());
  ASSERT_EQ(tile->cells.size(), 2U);
  EXPECT_EQ(tile->cells[0].cell, 0U);
  EXPECT_EQ(tile->cells[0].used, 3U);
  EXPECT_EQ(tile->cells[0].usable, (U128{1} << 52) - 1);
  EXPECT_EQ(tiled.used.namespaces()[tile->cells[0].name_space], "a");
  EXPECT_EQ(tiled.used.types()[tile->cells[0].type], "ClusterIP");
  EXPECT_EQ(tile->cells[0].matches, 1U);
  EXPECT_EQ(tile->cells[0].owner, "");
  EXPECT_EQ(tile->cells[1].cell, 4095U);
  EXPECT_EQ(tile->cells[1].matches, 1U);
  // One address of the same range, four zooms closer.
  const auto close = tiled.Make("fd00::/64", 0, (U128{1} << 52) - (U128{1} << 36));
  ASSERT_TRUE(close.has_value());
  EXPECT_THAT(CellsOf(*close), ElementsAre("0 taken 1/1"));
}

TEST(TileTest, TheLargestRangeHasTiles) {
  SmallCluster small;
  small.Range("::/0").Add({.name = "last", .values = {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"}});
  const TiledCluster tiled(small);
  const auto whole = tiled.Make("::/0", 126);
  ASSERT_TRUE(whole.has_value());
  EXPECT_THAT(CellsOf(*whole),
              ElementsAre(fmt::format("3 taken 1/{}", base::ToDecimal(U128{1} << 126))));
  EXPECT_EQ(RunsOf(*whole).back(), "4+4092 outside");
  const auto last = tiled.Make("::/0", 0, base::kU128Max >> 12);
  ASSERT_TRUE(last.has_value());
  EXPECT_THAT(CellsOf(*last), ElementsAre("4095 taken 1/1"));
}

TEST(TileTest, ForeignNumbersAreRefused) {
  SmallCluster small;
  small.Range("10.0.0.0/24").Range("::/0");
  const TiledCluster tiled(small);
  const auto fails = [&](std::string_view range, unsigned bits, U128 index) {
    const auto tile = tiled.Make(range, bits, index);
    return !tile && tile.error().reason == base::Reason::kInvalid;
  };
  EXPECT_TRUE(fails("10.0.0.0/24", 1, 0));
  EXPECT_TRUE(fails("10.0.0.0/24", 128, 0));
  EXPECT_TRUE(fails("10.0.0.0/24", 4294967294U, 0));
  EXPECT_TRUE(fails("10.0.0.0/24", 0, 1));
  EXPECT_TRUE(fails("10.0.0.0/24", 0, base::kU128Max));
  EXPECT_TRUE(fails("10.0.0.0/24", 126, 1));
  EXPECT_TRUE(fails("::/0", 116, 1));
  EXPECT_TRUE(fails("::/0", 0, (base::kU128Max >> 12) + 1));
  EXPECT_FALSE(fails("10.0.0.0/24", 126, 0));
}

/// What a cell looks like to a reader who asks for each of its values.
struct PlainCell {
  bool outside = true;
  MapCell counted = {};
  uint64_t named = 0;
  uint64_t drawn = 0;
  uint64_t matches = 0;
  bool in_use = false;
};

PlainCell CountEach(const TiledCluster& tiled, const RangeRef& range, U128 first, U128 size) {
  PlainCell cell;
  const alloc::Interval all = AllValuesOf(*range.row);
  const alloc::Layout& layout = range.row->layout;
  for (U128 i = 0; i < size; ++i) {
    const U128 offset = first + i;
    if (offset > all.last - all.first) break;
    const alloc::PoolValue value{.pool = range.pool, .value = all.first + offset};
    cell.outside = false;
    const auto uses = tiled.census.UsesOf(value);
    const State state = tiled.census.StateIn(*range.row, value);
    if (uses.empty()) {
      cell.counted.counts[state] += 1;
    } else {
      cell.counted.CountTaken(layout, value.value, uses.front().held->origin);
      cell.counted.twice += uses.size() > 1 ? 1 : 0;
      cell.named += uses.front().held->origin == Origin::kNamed ? 1 : 0;
      cell.drawn += uses.front().held->origin == Origin::kDrawn ? 1 : 0;
      cell.matches += std::ranges::any_of(
          uses, [](const Use& use) { return use.service->object.name_space == "n1"; });
    }
    cell.in_use = cell.in_use || (state != State::kFree && state != State::kExcluded);
    cell.counted.has_static =
        cell.counted.has_static ||
        (layout.Contains(value.value) && layout.BandOf(value.value) == alloc::Band::kStatic);
  }
  return cell;
}

RC_GTEST_PROP(TileProperty, EachCellIsWhatItsValuesAre, ()) {
  const auto text = *rc::gen::elementOf(std::vector<std::string>{
      "10.0.0.0/22", "10.0.0.64/26", "10.0.0.0/30", "fd00::/119", "30000-32767", "10.0.0.0/31"});
  SmallCluster small;
  const auto written = ReadWrittenRange(text).value().value();
  const auto size = static_cast<uint64_t>(written.values.last - written.values.first) + 1;
  const auto text_at = [&](uint64_t offset) {
    return alloc::TextOf({.pool = written.pool, .value = written.values.first + offset});
  };
  if (text == "10.0.0.0/22") {
    const auto excluded = *rc::gen::inRange<uint64_t>(0, size - 16);
    small.IpRange(fmt::format(R"({{"range": "{}", "excluded": ["{}", "{}/28"]}})", text,
                              text_at(excluded), text_at(excluded / 16 * 16)));
  } else {
    small.Range(text);
  }
  // Offset, namespace, origin; or the state of a record.
  using Item = std::tuple<uint64_t, int, int, bool>;
  const auto items = *rc::gen::container<std::vector<Item>>(
      rc::gen::tuple(rc::gen::inRange<uint64_t>(0, size), rc::gen::inRange(0, 3),
                     rc::gen::inRange(0, 3), rc::gen::arbitrary<bool>()));
  for (size_t i = 0; i < items.size(); ++i) {
    const auto& [offset, name_space, origin, record] = items[i];
    if (record) {
      small.Record(text_at(offset), static_cast<RecordState>(origin), "n1/kept");
    } else {
      small.Add({.name_space = fmt::format("n{}", name_space),
                 .name = fmt::format("s{}", i),
                 .values = {text_at(offset)},
                 .origin = static_cast<Origin>(origin)});
    }
  }
  const TiledCluster tiled(small);
  const RangeRef& range = tiled.Range(text);
  const auto bits = static_cast<unsigned>(*rc::gen::inRange(0, 7)) * 2;
  const auto tile = tiled.Make(text, bits, 0, "namespace:n1");
  RC_ASSERT(tile.has_value());
  std::map<uint32_t, const TileCell*> listed;
  for (const TileCell& cell : tile->cells) listed[cell.cell] = &cell;
  std::vector<const TileRun*> run_of(kTileCells);
  for (const TileRun& run : tile->runs) {
    for (uint32_t i = 0; i < run.count; ++i) run_of.at(run.first + i) = &run;
  }
  for (uint32_t i = 0; i < kTileCells; ++i) {
    const U128 cell_size = U128{1} << bits;
    const PlainCell plain = CountEach(tiled, range, cell_size * i, cell_size);
    RC_ASSERT((listed.count(i) == 1) != (run_of[i] != nullptr));
    RC_ASSERT((listed.count(i) == 1) == plain.in_use);
    if (!plain.in_use) {
      RC_ASSERT(run_of[i]->mark ==
                (plain.outside ? std::nullopt : std::optional(plain.counted.Mark())));
      continue;
    }
    const TileCell& cell = *listed[i];
    RC_ASSERT(cell.mark == plain.counted.Mark());
    RC_ASSERT(cell.used == plain.counted.Used());
    RC_ASSERT(cell.usable == plain.counted.Usable());
    RC_ASSERT(cell.named == plain.named);
    RC_ASSERT(cell.drawn == plain.drawn);
    RC_ASSERT(cell.matches >= plain.matches);
  }
}

}  // namespace
}  // namespace berth::inspect
