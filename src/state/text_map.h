// Hash maps and sets with text keys that are looked up by views. abseil's own hash of strings would
// do, but Debian builds it with a string_view of its own.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace berth::state {

struct TextHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

template <typename T>
using TextMap = absl::flat_hash_map<std::string, T, TextHash, std::equal_to<>>;
using TextSet = absl::flat_hash_set<std::string, TextHash, std::equal_to<>>;

}  // namespace berth::state
