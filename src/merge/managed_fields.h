// metadata.managedFields: which manager wrote which fields, kept up to date with every write. Who
// applies (apply.h) is told of conflicts by it; all other writes just take what they change.
//
// Pure functions on canonical objects, safe from any thread; nothing here fails. Sets of fields are
// written so that equal sets are equal texts, and many objects share few of them: whoever keeps
// them may keep each once.
#pragma once

#include <string>
#include <string_view>

#include "api/kinds.h"
#include "base/clock.h"
#include "codec/value.h"

namespace berth::merge {

/// Who writes, where and when.
struct FieldWrite {
  const api::Kind& kind;              // In the version of the request.
  std::string_view subresource = {};  // "status"; empty for the object itself.
  std::string_view manager = {};      // Empty: "unknown".
  base::WallTime now;
};

/// Update managers that an object keeps; older ones become one, `ancient-changes`.
inline constexpr size_t kMostUpdateManagers = 10;

/// Sets the managedFields of `updated`, which somebody created, replaced or patched. `live` is what
/// is stored; an empty object for a create. `updated` must be as the client wants it: defaults are
/// in it, but nothing yet that the server chose or carried over from `live`, since nobody owns
/// that.
///
/// Managed fields that `updated` brings along replace those of `live`, unless they make no sense;
/// an empty list, or one empty entry, ends the tracking of the object until it is applied.
void TrackUpdate(const FieldWrite& write, const codec::Value& live, codec::Value& updated);

/// If `updated` is `old` but for times in its managedFields and for its version, it gets the old
/// times: such a write is none. Called when all else about `updated` is decided.
void KeepTimesOfNoChange(const codec::Value& old, codec::Value& updated);

/// What a client that does not name itself is called: what its User-Agent has before the first
/// slash, without what cannot be printed, cut to the 128 bytes of a name.
std::string ManagerOfUserAgent(std::string_view user_agent);

}  // namespace berth::merge
