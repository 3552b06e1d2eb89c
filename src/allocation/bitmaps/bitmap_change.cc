#include "allocation/bitmaps/bitmap_change.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace berth::allocation {
namespace {

/// Equal parts are skipped in blocks of this many bytes.
constexpr size_t kChunk = 256;
constexpr size_t kWord = sizeof(uint64_t);

unsigned char MaskOf(uint64_t bit) { return static_cast<unsigned char>(1U << (bit % 8)); }

/// Returns the index of the byte of a bit, or nullopt if it lies beyond `size` bytes.
std::optional<size_t> PlaceOf(uint64_t bit, size_t size) {
  if (bit / 8 >= size) return std::nullopt;
  return size - 1 - static_cast<size_t>(bit / 8);
}

/// Returns the 64 bits from 8 * `low` on. Bits beyond the data are zero.
uint64_t WordAt(std::string_view data, size_t low) {
  if (low >= data.size()) return 0;
  const size_t size = std::min(kWord, data.size() - low);
  uint64_t word = 0;
  std::memcpy(&word, data.data() + data.size() - low - size, size);
  if constexpr (std::endian::native == std::endian::little) {
    return __builtin_bswap64(word) >> (8 * (kWord - size));
  } else {
    return word >> (8 * (kWord - size));
  }
}

bool ChunkIsEqual(std::string_view a, std::string_view b, size_t low) {
  if (low + kChunk > a.size() || low + kChunk > b.size()) return false;
  return std::memcmp(a.data() + a.size() - low - kChunk, b.data() + b.size() - low - kChunk,
                     kChunk) == 0;
}

void CompareWords(const BitmapLayout& layout, std::string_view before, std::string_view after,
                  size_t low, BitmapDifference& difference) {
  const uint64_t now = WordAt(after, low);
  for (uint64_t differ = WordAt(before, low) ^ now; differ != 0; differ &= differ - 1) {
    const auto place = static_cast<unsigned>(std::countr_zero(differ));
    const uint64_t bit = 8 * uint64_t{low} + place;
    if (bit >= layout.bits()) {
      ++difference.bits_beyond;
    } else if ((now >> place & 1) != 0) {
      difference.taken.push_back(layout.ValueOf(bit));
    } else {
      difference.released.push_back(layout.ValueOf(bit));
    }
  }
}

}  // namespace

bool IsBitSet(std::string_view data, uint64_t bit) {
  const auto place = PlaceOf(bit, data.size());
  return place && (static_cast<unsigned char>(data[*place]) & MaskOf(bit)) != 0;
}

std::optional<BitmapProblem> CheckChange(const BitmapLayout& layout, const BitmapChange& change,
                                         std::string_view data) {
  for (const U128 value : change.takes) {
    const auto bit = layout.BitOf(value);
    if (!bit) return BitmapProblem{.kind = BitmapProblem::Kind::kNoBit, .value = value};
    if (IsBitSet(data, *bit)) return BitmapProblem{.value = value};
  }
  return std::nullopt;
}

bool FitsInto(const BitmapLayout& layout, const BitmapChange& change, size_t size) {
  return std::ranges::all_of(change.takes,
                             [&](U128 value) { return *layout.BitOf(value) / 8 < size; });
}

void WriteChange(const BitmapLayout& layout, const BitmapChange& change, std::span<char> data) {
  const auto byte_of = [&](uint64_t bit) -> char* {
    const auto place = PlaceOf(bit, data.size());
    return place ? &data[*place] : nullptr;
  };
  for (const U128 value : change.releases) {
    const auto bit = layout.BitOf(value);
    char* byte = bit ? byte_of(*bit) : nullptr;
    if (byte != nullptr) *byte = static_cast<char>(*byte & ~MaskOf(*bit));
  }
  for (const U128 value : change.takes) {
    const uint64_t bit = *layout.BitOf(value);
    char* byte = byte_of(bit);
    *byte = static_cast<char>(*byte | MaskOf(bit));
  }
}

size_t LeadingZeros(std::string_view data) {
  return std::min(data.find_first_not_of('\0'), data.size());
}

std::optional<BitmapProblem> MakeChange(const BitmapLayout& layout, const BitmapChange& change,
                                        std::string& data) {
  if (auto problem = CheckChange(layout, change, data)) return problem;
  uint64_t bytes = data.size();
  for (const U128 value : change.takes) bytes = std::max(bytes, *layout.BitOf(value) / 8 + 1);
  data.insert(0, static_cast<size_t>(bytes) - data.size(), '\0');
  WriteChange(layout, change, data);
  data.erase(0, LeadingZeros(data));
  return std::nullopt;
}

BitmapDifference CompareBitmaps(const BitmapLayout& layout, std::string_view before,
                                std::string_view after) {
  BitmapDifference difference;
  const size_t size = std::max(before.size(), after.size());
  for (size_t low = 0; low < size;) {
    if (low % kChunk == 0 && ChunkIsEqual(before, after, low)) {
      low += kChunk;
    } else {
      CompareWords(layout, before, after, low, difference);
      low += kWord;
    }
  }
  return difference;
}

}  // namespace berth::allocation
