// Decides what `berth map` draws, from the arguments and the cluster. Pure.
#pragma once

#include <vector>

#include "base/result.h"
#include "berth/inspect/map_command.h"
#include "berth/inspect/map_text.h"
#include "codec/value.h"
#include "inspect/census.h"

namespace berth::cli {

/// The deepest zoom. It is enough for one value of an IPv6 range.
inline constexpr unsigned kDeepest = 32;

/// Returns a view for each range that the arguments mean, or for all ranges if they name none.
/// Without --depth, --at chooses the depth at which each value has a cell of its own. Fails with
/// kInvalid or kNotFound.
base::Result<std::vector<MapView>> MapViews(const inspect::Census& census,
                                            const MapArguments& arguments);

/// Returns the document for scripts. docs/whois.md describes its keys.
codec::Value MapDocument(const inspect::Census& census, const std::vector<MapView>& views);

}  // namespace berth::cli
