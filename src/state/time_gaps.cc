#include "state/time_gaps.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace berth::state {
namespace {

constexpr std::string_view kBefore = "\"time\":\"";
constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
static_assert(kShape.size() == kTimeSize);

// `gapped` is a byte with the number of times, then the position of each in the rest of the text,
// then the rest of the text.
using GapOffset = uint32_t;
static_assert(kMostTimes <= UINT8_MAX);

size_t GapCount(std::string_view gapped) { return static_cast<unsigned char>(gapped.front()); }

GapOffset OffsetOfGap(std::string_view gapped, size_t index) {
  GapOffset offset = 0;
  std::memcpy(&offset, gapped.data() + 1 + index * sizeof offset, sizeof offset);
  return offset;
}

std::string_view GappedText(std::string_view gapped) {
  return gapped.substr(1 + GapCount(gapped) * sizeof(GapOffset));
}

bool IsTime(std::string_view text) {
  for (size_t i = 0; i < kTimeSize; ++i) {
    const bool fits = kShape[i] == 'd' ? text[i] >= '0' && text[i] <= '9' : text[i] == kShape[i];
    if (!fits) return false;
  }
  return true;
}

}  // namespace

size_t FindTime(std::string_view text, size_t from) {
  // The search is for Z, because few other bytes of a text are a Z.
  for (size_t z = text.find('Z', from); z != std::string_view::npos; z = text.find('Z', z + 1)) {
    if (z + 1 < from + kBefore.size() + kTimeSize) continue;
    const size_t at = z + 1 - kTimeSize;
    if (text.substr(z + 1).starts_with('"') && text.substr(0, at).ends_with(kBefore) &&
        IsTime(text.substr(at))) {
      return at;
    }
  }
  return std::string_view::npos;
}

TextWithGaps TakeTimesOut(std::string_view text) {
  std::array<size_t, kMostTimes> begins;
  size_t count = 0;
  for (size_t at = FindTime(text, 0); at != std::string_view::npos && count < kMostTimes;
       at = FindTime(text, at + kTimeSize)) {
    begins[count++] = at;
  }
  TextWithGaps out;
  out.gapped.reserve(1 + count * sizeof(GapOffset) + text.size());
  out.times.reserve(count * kTimeSize);
  out.gapped.push_back(static_cast<char>(count));
  for (size_t i = 0; i < count; ++i) {
    const auto offset = static_cast<GapOffset>(begins[i] - i * kTimeSize);
    out.gapped.append(reinterpret_cast<const char*>(&offset), sizeof offset);
    out.times.append(text, begins[i], kTimeSize);
  }
  size_t from = 0;
  for (size_t i = 0; i < count; ++i) {
    out.gapped.append(text, from, begins[i] - from);
    from = begins[i] + kTimeSize;
  }
  out.gapped.append(text, from);
  return out;
}

size_t TimesSize(std::string_view gapped) { return GapCount(gapped) * kTimeSize; }

size_t FilledSize(std::string_view gapped) { return GappedText(gapped).size() + TimesSize(gapped); }

void AppendFilled(std::string& out, std::string_view gapped, std::string_view times) {
  const std::string_view text = GappedText(gapped);
  size_t from = 0;
  for (size_t i = 0; i < GapCount(gapped); ++i) {
    const size_t offset = OffsetOfGap(gapped, i);
    out.append(text, from, offset - from);
    out.append(times, i * kTimeSize, kTimeSize);
    from = offset;
  }
  out.append(text, from);
}

}  // namespace berth::state
