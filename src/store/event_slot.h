// How an engine that cannot number events one by one stores the position of an event within its
// transaction. It writes the position into a part of the value that readers overwrite anyway
// (metadata.resourceVersion of API objects). The engine gets a codec for this, and otherwise treats
// values as opaque bytes.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace berth::store {

struct SlotCodec {
  /// Writes `slot` into the value and returns it. For a key that is not an API object, returns the
  /// key's fixed slot and leaves the value alone.
  std::function<int(std::string_view key, std::string& value, int slot)> write;

  /// Returns what `write` returned for this key and value. Returns 0 if the value has no readable
  /// slot.
  std::function<int(std::string_view key, std::string_view value)> read;
};

/// The first slot of deletes. Puts use 0 to kMaxPuts - 1; fixed slots lie between those and this.
inline constexpr int kFirstDeleteSlot = 2048;

}  // namespace berth::store
