#include "commit/bitmaps.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <utility>

#include "api/kinds.h"
#include "base/uint128.h"
#include "codec/encode.h"
#include "codec/range_allocation.h"

namespace berth::commit {
namespace {

using alloc::BitmapChange;
using alloc::BitmapForm;
using alloc::BitmapProblem;

base::Result<bool> NoBitmap(const BitmapKey& bitmap, const BitmapChange& change) {
  if (change.takes.empty()) return true;
  return base::Fail(
      base::Reason::kServiceUnavailable,
      fmt::format("cannot allocate resources of type {} at this time", bitmap.resource));
}

base::Result<bool> CannotBe(const BitmapForm& form, const BitmapProblem& problem) {
  if (problem.kind == BitmapProblem::Kind::kTaken) return false;
  return base::Fail(base::Reason::kInternalError,
                    fmt::format("value {} has no bit in the bitmap of {}",
                                base::ToDecimal(problem.value), form.range()));
}

/// Where the bytes are long enough already, only those are touched that change.
base::Result<bool> Apply(const BitmapForm& form, const BitmapChange& change, std::string& stored) {
  const auto read = codec::ReadRangeAllocation(stored);
  if (!read) return tl::unexpected(read.error());
  if (read->range != form.range()) {
    return base::Fail(base::Reason::kInternalError, form.Mismatch().message);
  }
  if (const auto problem = CheckChange(form, change, read->data)) return CannotBe(form, *problem);
  if (!FitsInto(form, change, read->data.size())) {
    std::string data(read->data);
    MakeChange(form, change, data);
    stored = codec::WithData(stored, data);
    return true;
  }
  if (read->data.empty()) return true;  // Nothing is taken, so nothing can be given back.
  const auto at = static_cast<size_t>(read->data.data() - stored.data());
  const size_t size = read->data.size();
  WriteChange(form, change, std::span(stored).subspan(at, size));
  const size_t zeros = alloc::LeadingZeros(std::string_view(stored).substr(at, size));
  if (zeros > 0) {
    stored = codec::WithData(stored, std::string_view(stored).substr(at + zeros, size - zeros));
  }
  return true;
}

}  // namespace

base::Result<state::WireText> BitmapToWire(std::string_view stored) {
  auto proto = codec::RangeAllocationToProto(stored);
  if (!proto) return tl::unexpected(std::move(proto.error()));
  const api::Kind& kind = api::kRangeAllocationKind;
  const codec::Value object = codec::Object{{"metadata", codec::Object{}},
                                            {"range", codec::ReadRangeAllocation(*proto)->range}};
  codec::WireJson wire = codec::EncodeJson(object, *kind.message,
                                           {.api_version = kind.api_version, .kind = kind.kind});
  return state::WireText{.text = std::move(wire.text),
                         .metadata_at = wire.metadata_at,
                         .version_at = wire.version_at,
                         .hidden = *std::move(proto)};
}

BitmapView ViewOf(const state::Object& bitmap) {
  const auto read = codec::ReadRangeAllocation(bitmap.Hidden());
  if (!read) return {};  // Of another kind: nothing that a bitmap's decode has made.
  return {.range = read->range, .data = read->data};
}

SharedPut BitmapPut(int bitmap, alloc::BitmapForm form, alloc::BitmapChange change) {
  struct Part {
    BitmapForm form;
    BitmapChange change;
  };
  const BitmapKey& key = kBitmaps[static_cast<size_t>(bitmap)];
  auto part =
      std::make_shared<const Part>(Part{.form = std::move(form), .change = std::move(change)});
  return {.key = std::string(key.key),
          .read = [](const state::Object& object) { return std::string(object.Hidden()); },
          .apply = [&key, part = std::move(part)](
                       std::optional<std::string>& stored) -> base::Result<bool> {
            if (!stored) return NoBitmap(key, part->change);
            return Apply(part->form, part->change, *stored);
          }};
}

std::vector<SharedPut> BitmapPuts(const Allocations::Grant& grant) {
  if (grant.bitmaps == nullptr) return {};
  std::array<BitmapChange, kPools> changes;
  for (const Allocations::Take& take : grant.takes) {
    changes[static_cast<size_t>(take.value.pool)].takes.push_back(take.value.value);
  }
  for (const Allocations::Give& give : grant.gives) {
    changes[static_cast<size_t>(give.value.pool)].gives.push_back(give.value.value);
  }
  std::vector<SharedPut> puts;
  for (size_t i = 0; i < kPools; ++i) {
    const auto& bitmap = (*grant.bitmaps)[i];
    if (!bitmap || (changes[i].takes.empty() && changes[i].gives.empty())) continue;
    puts.push_back(BitmapPut(static_cast<int>(bitmap->id), bitmap->form, std::move(changes[i])));
  }
  return puts;
}

std::string StoredBitmap(const alloc::RangeAllocation& bitmap) {
  return codec::WriteRangeAllocation(bitmap.range, bitmap.data);
}

}  // namespace berth::commit
