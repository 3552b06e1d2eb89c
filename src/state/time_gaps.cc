#include "state/time_gaps.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace berth::state {
namespace {

constexpr std::string_view kBefore = "\"time\":\"";
constexpr std::string_view kShape = "dddd-dd-ddTdd:dd:ddZ";
static_assert(kShape.size() == kTimeSize);

// `gapped` is a byte with the number of times, for each of them where it goes in the text that is
// left, and that text.
using Place = uint32_t;
static_assert(kMostTimes <= UINT8_MAX);

size_t CountOf(std::string_view gapped) { return static_cast<unsigned char>(gapped.front()); }

Place PlaceOf(std::string_view gapped, size_t index) {
  Place place = 0;
  std::memcpy(&place, gapped.data() + 1 + index * sizeof place, sizeof place);
  return place;
}

std::string_view TextOf(std::string_view gapped) {
  return gapped.substr(1 + CountOf(gapped) * sizeof(Place));
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
  // Few other bytes are a Z.
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
  out.gapped.reserve(1 + count * sizeof(Place) + text.size());
  out.times.reserve(count * kTimeSize);
  out.gapped.push_back(static_cast<char>(count));
  for (size_t i = 0; i < count; ++i) {
    const auto place = static_cast<Place>(begins[i] - i * kTimeSize);
    out.gapped.append(reinterpret_cast<const char*>(&place), sizeof place);
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

size_t TimesSize(std::string_view gapped) { return CountOf(gapped) * kTimeSize; }

size_t FilledSize(std::string_view gapped) { return TextOf(gapped).size() + TimesSize(gapped); }

void AppendFilled(std::string& out, std::string_view gapped, std::string_view times) {
  const std::string_view text = TextOf(gapped);
  size_t from = 0;
  for (size_t i = 0; i < CountOf(gapped); ++i) {
    const size_t place = PlaceOf(gapped, i);
    out.append(text, from, place - from);
    out.append(times, i * kTimeSize, kTimeSize);
    from = place;
  }
  out.append(text, from);
}

}  // namespace berth::state
