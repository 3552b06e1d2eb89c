#include "allocation/bitmaps/stored_bitmaps.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

#include "base/uint128.h"
#include "codec/range_allocation.h"

namespace berth::allocation {
namespace {

base::Result<bool> NoBitmap(const BitmapKey& bitmap, const BitmapChange& change) {
  if (change.takes.empty()) return true;
  return base::Fail(
      base::Reason::kServiceUnavailable,
      fmt::format("cannot allocate resources of type {} at this time", bitmap.resource));
}

base::Result<bool> CannotBe(const BitmapLayout& layout, const BitmapProblem& problem) {
  if (problem.kind == BitmapProblem::Kind::kTaken) return false;
  return base::Fail(base::Reason::kInternalError,
                    fmt::format("value {} has no bit in the bitmap of {}",
                                base::ToDecimal(problem.value), layout.range()));
}

/// Where the bytes are long enough already, touches only those that change.
base::Result<bool> Apply(const BitmapLayout& layout, const BitmapChange& change,
                         std::string& stored) {
  const auto read = codec::ReadRangeAllocation(stored);
  if (!read) return tl::unexpected(read.error());
  if (read->range != layout.range()) {
    return base::Fail(base::Reason::kInternalError, layout.Mismatch().message);
  }
  if (const auto problem = CheckChange(layout, change, read->data))
    return CannotBe(layout, *problem);
  if (!FitsInto(layout, change, read->data.size())) {
    std::string data(read->data);
    MakeChange(layout, change, data);
    stored = codec::WithData(stored, data);
    return true;
  }
  if (read->data.empty()) return true;  // No value is taken, so none can be released.
  const auto at = static_cast<size_t>(read->data.data() - stored.data());
  const size_t size = read->data.size();
  WriteChange(layout, change, std::span(stored).subspan(at, size));
  const size_t zeros = LeadingZeros(std::string_view(stored).substr(at, size));
  if (zeros > 0) {
    stored = codec::WithData(stored, std::string_view(stored).substr(at + zeros, size - zeros));
  }
  return true;
}

}  // namespace

BitmapView ViewOf(const state::Object& bitmap) {
  const auto read = codec::ReadRangeAllocation(bitmap.Hidden());
  if (!read) return {};  // state::BitmapToWire did not make this object.
  return {.range = read->range, .data = read->data};
}

commit::SharedPut BitmapPut(BitmapId bitmap, BitmapLayout layout, BitmapChange change) {
  struct Part {
    BitmapLayout layout;
    BitmapChange change;
  };
  const BitmapKey& key = kBitmaps[bitmap];
  auto part =
      std::make_shared<const Part>(Part{.layout = std::move(layout), .change = std::move(change)});
  return {.key = std::string(key.key),
          .read = [](const state::Object& object) { return std::string(object.Hidden()); },
          .apply = [&key, part = std::move(part)](
                       std::optional<std::string>& stored) -> base::Result<bool> {
            if (!stored) return NoBitmap(key, part->change);
            return Apply(part->layout, part->change, *stored);
          }};
}

std::vector<commit::SharedPut> BitmapPuts(const Grant& grant) {
  if (grant.bitmaps == nullptr) return {};
  PerPool<BitmapChange> changes;
  for (const TakenValue& take : grant.takes) {
    changes[take.value.pool].takes.push_back(take.value.value);
  }
  for (const ReleasedValue& release : grant.releases) {
    if (release.held_by_another) continue;
    changes[release.value.pool].releases.push_back(release.value.value);
  }
  std::vector<commit::SharedPut> puts;
  for (const PoolId pool : kAllPools) {
    const std::optional<PoolBitmap>& bitmap = (*grant.bitmaps)[pool];
    BitmapChange& change = changes[pool];
    if (!bitmap || (change.takes.empty() && change.releases.empty())) continue;
    puts.push_back(BitmapPut(bitmap->id, bitmap->layout, std::move(change)));
  }
  return puts;
}

std::string StoredBitmap(const RangeAllocation& bitmap) {
  return codec::WriteRangeAllocation(bitmap.range, bitmap.data);
}

}  // namespace berth::allocation
