// A tile of the map of a range.
#include <map>

#include "base/uint128.h"
#include "berth/ui/scene.h"
#include "berth/ui/scene_parts.h"
#include "inspect/tile.h"

namespace berth::cli {
namespace {

using codec::Array;
using codec::Value;

/// Collects the names that the cells of a tile refer to.
class TileNames {
 public:
  explicit TileNames(const std::vector<std::string_view>& all) : all_(all) {}

  /// Returns the position of a name in the document; -1 for none.
  Value PositionOf(uint32_t name) {
    if (name == 0) return -1;
    const auto [at, added] = positions_.try_emplace(name, names_.size());
    if (added) names_.emplace_back(all_[name]);
    return uint64_t{at->second};
  }

  Array Take() && { return std::move(names_); }

 private:
  const std::vector<std::string_view>& all_;
  std::map<uint32_t, size_t> positions_;
  Array names_;
};

base::Result<inspect::TilePlace> ReadPlace(const TileQuestion& question) {
  const auto bits = base::ParseDecimal(question.bits);
  if (!bits || *bits > inspect::kMostTileBits) {
    return base::Fail(base::Reason::kInvalid, "bits must be an even number from 0 to 126");
  }
  const auto index = base::ParseDecimal(question.index);
  if (!index) return base::Fail(base::Reason::kInvalid, "index must be a decimal number");
  return inspect::TilePlace{.bits = static_cast<unsigned>(*bits), .index = *index};
}

Value CellDocument(const inspect::TileCell& cell, TileNames& namespaces, TileNames& types) {
  Array array;
  array.reserve(11);
  array.emplace_back(cell.cell);
  array.emplace_back(inspect::NameOf(cell.mark));
  array.push_back(PageNumber(cell.used));
  array.push_back(PageNumber(cell.usable));
  array.emplace_back(cell.named);
  array.emplace_back(cell.drawn);
  array.push_back(namespaces.PositionOf(cell.name_space));
  array.push_back(types.PositionOf(cell.type));
  array.emplace_back(cell.newest);
  array.emplace_back(cell.owner);
  array.emplace_back(cell.matches);
  return array;
}

}  // namespace

base::Result<Value> TileDocument(const Scene& scene, const TileQuestion& question) {
  const auto range = RangeOfKey(scene, question.key);
  if (!range) return tl::unexpected(range.error());
  const auto place = ReadPlace(question);
  if (!place) return tl::unexpected(place.error());
  const auto filter = inspect::Filter::Read(question.find);
  if (!filter) return tl::unexpected(filter.error());
  const auto tile =
      inspect::MakeTile(scene.used(), (*range)->ref, *place, *scene.MatchesOf(*filter));
  if (!tile) return tl::unexpected(tile.error());
  Array runs;
  runs.reserve(tile->runs.size());
  for (const inspect::TileRun& run : tile->runs) {
    runs.push_back(Array{Value(run.first), Value(run.count),
                         Value(run.mark ? inspect::NameOf(*run.mark) : "outside")});
  }
  TileNames namespaces(scene.used().namespaces());
  TileNames types(scene.used().types());
  Array cells;
  cells.reserve(tile->cells.size());
  for (const inspect::TileCell& cell : tile->cells) {
    cells.push_back(CellDocument(cell, namespaces, types));
  }
  return Value(codec::Object{{"seq", scene.seq()},
                             {"bits", uint64_t{place->bits}},
                             {"index", CountText(place->index)},
                             {"runs", std::move(runs)},
                             {"cells", std::move(cells)},
                             {"namespaces", std::move(namespaces).Take()},
                             {"types", std::move(types).Take()}});
}

}  // namespace berth::cli
