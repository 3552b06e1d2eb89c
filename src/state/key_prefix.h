// What the keys of a resource begin with. There are few and they are in every key, so objects hold
// a number for it.
//
// Threads: safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace berth::state {

class KeyPrefix {
 public:
  static constexpr size_t kMost = 4096;

  /// None, which is not equal to any.
  constexpr KeyPrefix() = default;
  /// At most kMost different ones in the life of a process.
  explicit KeyPrefix(std::string_view text);

  /// Lives as long as the process.
  std::string_view Text() const;

  bool operator==(const KeyPrefix&) const = default;

 private:
  uint16_t number_ = UINT16_MAX;
};

}  // namespace berth::state
