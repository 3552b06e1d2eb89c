// How an engine that cannot number events one by one notes an event's place among those of the same
// transaction: in a part of the value that readers overwrite anyway (metadata.resourceVersion of
// API objects). Engines are handed a codec and otherwise take values as opaque bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace berth::store {

struct SlotCodec {
  /// Notes `slot` in the value and returns it, or returns the fixed slot of a key that is not an
  /// API object and leaves the value alone.
  std::function<int(std::string_view key, std::string& value, int slot)> write;

  /// What `write` returned for this key and value; 0 when nothing readable is noted.
  std::function<int(std::string_view key, std::string_view value)> read;
};

/// Slots of puts that are noted in values: 0 to kMaxPuts - 1. Fixed ones lie above, below this.
inline constexpr int kFirstDeleteSlot = 2048;

}  // namespace berth::store
