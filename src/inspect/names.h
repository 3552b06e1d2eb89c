// The words that all answers use for states, bands, pools and origins, in texts and in documents.
// Pure.
#pragma once

#include <string>
#include <string_view>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "alloc/state.h"
#include "inspect/census.h"
#include "inspect/cluster.h"

namespace berth::inspect {

/// Returns "free", "taken", "reserved", "cooling" or "excluded".
std::string_view NameOf(alloc::State state);
/// Returns "static" or "dynamic".
std::string_view NameOf(alloc::Band band);
/// Returns "IPv4", "IPv6" or "NodePort".
std::string_view NameOf(alloc::PoolId pool);
/// Returns "unknown", "named" or "drawn".
std::string_view NameOf(Origin origin);

/// Returns "namespace/name".
std::string PathOf(const Service& service);
std::string PathOf(const audit::ObjectRef& object);

/// Returns the name and the values of a range, "kubernetes 10.96.0.0/16", or only the values if
/// they are its name too.
std::string TitleOf(const RangeRef& range);

/// Returns all values of a range, usable or not.
alloc::Interval AllValuesOf(const alloc::RangeRow& row);

/// Returns whether the source shows records of the pool's values. Where it does not, a value that
/// no Service has looks free even if a record keeps it.
bool ShowsRecords(const Census& census, alloc::PoolId pool);

}  // namespace berth::inspect
