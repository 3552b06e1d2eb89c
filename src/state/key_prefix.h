// The text that all keys of a resource begin with. There are few such texts and every key has one,
// so an object holds the number of the text instead.
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

  /// Stands for no prefix, which differs from every prefix, also from the empty one.
  constexpr KeyPrefix() = default;
  /// A process may make at most kMost different prefixes.
  explicit KeyPrefix(std::string_view text);

  /// Returns the text, which is never freed.
  std::string_view Text() const;

  bool operator==(const KeyPrefix&) const = default;

 private:
  uint16_t number_ = UINT16_MAX;
};

}  // namespace berth::state
