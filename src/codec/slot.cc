#include "codec/slot.h"

#include <array>
#include <charconv>
#include <optional>
#include <system_error>

#include "codec/resource_version.h"

namespace berth::codec {
namespace {

constexpr std::string_view kOwnPrefix = "/registry/berth.io/";
constexpr std::string_view kRangesPrefix = "/registry/ranges/";

struct KeySlot {
  std::string_view key;  // "x/" matches keys with this prefix that no row above matches.
  int slot;
};

constexpr std::array<KeySlot, 10> kOwnSlots = {{
    {"mode", 2047},
    {"fence/ipv4", 2046},
    {"fence/ipv6", 2045},
    {"fence/nodeports", 2044},
    {"fence/process/", 2034},
    {"fence/", 2040},
    {"compact", 2036},
    {"tick", 2035},
    {"replicas/", 2033},
    {"", 2032},
}};

constexpr std::array<KeySlot, 3> kRangeSlots = {{
    {"serviceips", 2039},
    {"secondaryserviceips", 2038},
    {"servicenodeports", 2037},
}};

bool SetResourceVersion(std::string& value, std::string_view version) {
  return SetProtoResourceVersion(value, version) || SetJsonResourceVersion(value, version);
}

}  // namespace

std::optional<int> FixedSlot(std::string_view key) {
  if (key.starts_with(kOwnPrefix)) {
    const std::string_view name = key.substr(kOwnPrefix.size());
    for (const KeySlot& row : kOwnSlots) {
      const bool folder = row.key.empty() || row.key.ends_with('/');
      if (folder ? name.starts_with(row.key) : name == row.key) return row.slot;
    }
  }
  if (key.starts_with(kRangesPrefix)) {
    const std::string_view name = key.substr(kRangesPrefix.size());
    for (const KeySlot& row : kRangeSlots) {
      if (name == row.key) return row.slot;
    }
  }
  return std::nullopt;
}

int WriteSlot(std::string_view key, std::string& value, int slot) {
  if (const auto fixed = FixedSlot(key)) return *fixed;
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), slot).ptr;
  const std::string_view text(digits.data(), static_cast<size_t>(end - digits.data()));
  return SetResourceVersion(value, text) ? slot : 0;
}

int ReadSlot(std::string_view key, std::string_view value) {
  if (const auto fixed = FixedSlot(key)) return *fixed;
  auto text = ProtoResourceVersion(value);
  if (!text) text = JsonResourceVersion(value);
  if (!text || text->empty() || (text->size() > 1 && text->front() == '0')) return 0;
  int slot = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), slot);
  const bool whole = error == std::errc() && end == text->data() + text->size();
  return whole && slot >= 0 && slot <= kMaxObjectSlot ? slot : 0;
}

void ClearSlot(std::string_view key, std::string& value) {
  if (!FixedSlot(key)) SetResourceVersion(value, "");
}

bool SameApartFromSlot(std::string_view key, std::string_view sent, std::string_view stored) {
  if (sent == stored) return true;
  std::string cleared(stored);
  ClearSlot(key, cleared);
  return cleared == sent;
}

}  // namespace berth::codec
