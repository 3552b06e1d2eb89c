// Who holds what now, kept compactly: about 300 bytes for a Service with an address and a port.
//
// Threads: one at a time.
#pragma once

#include <absl/container/btree_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/packed_uuid.h"
#include "history/entry.h"
#include "history/types.h"

namespace berth::history {

/// A value that a Service holds, and since when.
class Hold {
 public:
  Hold(const Held& held, Millis since, std::optional<Millis> earliest);

  Held held() const;
  Millis since() const { return since_; }
  std::optional<Millis> earliest() const;
  bool Is(const alloc::PoolValue& value) const {
    return low_ == base::Low64(value.value) && high_ == base::High64(value.value) &&
           pool_ == value.pool;
  }

 private:
  // Two halves, because a U128 would be aligned to 16 bytes.
  uint64_t low_;
  uint64_t high_;
  Millis since_;
  Millis earliest_;
  alloc::PoolId pool_;
  inspect::Origin origin_;
  Purpose purpose_;
};

struct Holder {
  std::variant<base::PackedUuid, std::string> uid = {};
  std::vector<Hold> holds = {};
  uint64_t segment = 0;  ///< The segment in which the Service has a number.
  uint32_t number = 0;
  uint32_t list = 0;  ///< The last list that showed it.

  std::string Uid() const;
  void SetUid(const std::string& text);
};

class Holders {
 public:
  using Map = absl::btree_map<std::string, Holder>;

  /// Returns null if the Service holds nothing.
  Holder* Find(std::string_view name_space, std::string_view name);
  Holder& Get(const Owner& owner);
  void Erase(std::string_view name_space, std::string_view name);

  Map& all() { return map_; }
  const Map& all() const { return map_; }

  /// Returns the owner that an element of all() is.
  static Owner OwnerOf(const Map::value_type& element);
  static std::string KeyOf(std::string_view name_space, std::string_view name);

 private:
  Map map_;  ///< By namespace and name, with a slash in between.
};

}  // namespace berth::history
