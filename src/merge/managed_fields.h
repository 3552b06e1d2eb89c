// metadata.managedFields: which manager wrote which fields, updated by every write.
// Server-side apply (apply.h) uses it to find conflicts. All other writes simply take the
// fields that they change.
//
// Pure functions on canonical objects, safe from any thread; nothing here fails. Equal sets
// of fields are written as equal texts, and many objects share few sets, so a cache may
// store each text once.
#pragma once

#include <string>
#include <string_view>

#include "api/kinds.h"
#include "base/clock.h"
#include "codec/value.h"

namespace berth::merge {

/// The manager, place and time of a write.
struct FieldWrite {
  const api::Kind& kind;              // In the version of the request.
  std::string_view subresource = {};  // "status", or empty for the object itself.
  std::string_view manager = {};      // "unknown" if empty.
  base::WallTime now;
};

/// The number of Update managers of an object. Older ones are merged into one, `ancient-changes`.
inline constexpr size_t kMostUpdateManagers = 10;

/// Sets the managedFields of `updated`, the result of a create, replace or patch. `live` is
/// the stored object, or an empty object for a create. `updated` must be as the client
/// wants it: with defaults, but without values that the server chose or carried over from
/// `live`, since no manager owns those.
///
/// Managed fields in `updated` replace those of `live`, unless they are malformed. An empty list,
/// or one empty entry, ends the tracking of the object until the next apply.
void TrackUpdate(const FieldWrite& write, const codec::Value& live, codec::Value& updated);

/// If `updated` differs from `old` only in its version and in times of its managedFields,
/// restores the old times, so that the write changes nothing. To be called when everything
/// else about `updated` is final.
void KeepTimesOfNoChange(const codec::Value& old, codec::Value& updated);

/// Returns the manager name of a client that does not name itself: its User-Agent up to the first
/// slash, without unprintable characters, cut to the 128 bytes of a name.
std::string ManagerOfUserAgent(std::string_view user_agent);

}  // namespace berth::merge
