// Hash maps and sets with text keys, which can be looked up by std::string_view. abseil's hash of
// strings cannot be used, because Debian builds abseil with its own string_view type.
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
