// Parts that the documents of several commands have in common. All keys are always there; a value
// that does not exist is null.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "base/clock.h"
#include "base/uint128.h"
#include "berth/plan/value_kind.h"
#include "codec/value.h"
#include "inspect/census.h"

namespace berth::cli {

ValueKind KindOf(alloc::PoolId pool);

codec::Value StringOrNull(std::string_view text);
codec::Value TimeOrNull(const std::optional<base::WallTime>& time);

/// Sets a number, which may be too large for a reader's integers, and its exact text.
void SetNumber(codec::Object& object, const std::string& key, base::U128 number);

/// Sets "first", "last", "size" and "sizeText".
void SetValues(codec::Object& object, alloc::PoolId pool, const alloc::Interval& values);

/// Returns "namespace", "name" and "type" of a Service, and what manages it.
codec::Object ServiceDocument(const inspect::Service& service);

/// Returns how a range is known: "name", "range", "kind", "source", "exact", "open".
codec::Value RangeRefDocument(const inspect::RangeRef& range);

/// Returns the beginning of a document: "kind", "source", "readAt", "server", "version",
/// "revision".
codec::Object DocumentOf(std::string_view kind, const inspect::Cluster& cluster);

codec::Value GapsDocument(const inspect::Cluster& cluster);
codec::Value GapsDocument(const std::vector<inspect::Gap>& gaps);

}  // namespace berth::cli
