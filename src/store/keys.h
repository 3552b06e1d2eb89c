// The keys of Berth's own notes, and which of them belong to the engines. Keys of the engines are
// refused in transactions and never appear in gets, scans and watches.
#pragma once

#include <string_view>

namespace berth::store {

inline constexpr std::string_view kPrefix = "/registry/";
inline constexpr std::string_view kOwnPrefix = "/registry/berth.io/";
inline constexpr std::string_view kMarkerKey = "/registry/berth.io/mode";
inline constexpr std::string_view kCompactKey = "/registry/berth.io/compact";
inline constexpr std::string_view kTickKey = "/registry/berth.io/tick";
inline constexpr std::string_view kProcessFencePrefix = "/registry/berth.io/fence/process/";

/// A store holds this key while the state of another store is being copied into it (store/copy.h).
inline constexpr std::string_view kCopyNoteKey = "/registry/berth.io/copying";

/// Returns whether the key belongs to the engines (marker, compaction clock, tick, process fences).
constexpr bool IsEngineKey(std::string_view key) {
  return key == kMarkerKey || key == kCompactKey || key == kTickKey ||
         key.starts_with(kProcessFencePrefix);
}

}  // namespace berth::store
