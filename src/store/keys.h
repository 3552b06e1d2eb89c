// The keys that Berth's own notes have, and which of them belong to the engines: those are refused
// in transactions and never show up in gets, scans and watches.
#pragma once

#include <string_view>

namespace berth::store {

inline constexpr std::string_view kPrefix = "/registry/";
inline constexpr std::string_view kOwnPrefix = "/registry/berth.io/";
inline constexpr std::string_view kMarkerKey = "/registry/berth.io/mode";
inline constexpr std::string_view kCompactKey = "/registry/berth.io/compact";
inline constexpr std::string_view kTickKey = "/registry/berth.io/tick";
inline constexpr std::string_view kProcessFencePrefix = "/registry/berth.io/fence/process/";

/// Held by a store while another one's state is being copied into it (store/copy.h).
inline constexpr std::string_view kCopyNoteKey = "/registry/berth.io/copying";

/// Whether the key is an engine's own (marker, compaction clock, tick, process fences).
constexpr bool IsEngineKey(std::string_view key) {
  return key == kMarkerKey || key == kCompactKey || key == kTickKey ||
         key.starts_with(kProcessFencePrefix);
}

}  // namespace berth::store
