// Parts that several documents of a scene have in common, and how parameters are read. Parameters
// are foreign input: every function checks what it gets.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "base/result.h"
#include "berth/ui/scene.h"
#include "codec/value.h"
#include "inspect/filter.h"
#include "inspect/ready_command.h"

namespace berth::cli {

/// Return a number of values as decimal text, which is exact however large it is.
codec::Value CountText(base::U128 count);
codec::Value SizeText(const alloc::Interval& values);
/// Returns a number for the page; it stops at 2^53, up to which each number of a page is exact.
codec::Value PageNumber(base::U128 number);

codec::Value ValueTextOf(alloc::PoolId pool, base::U128 value);

/// Returns what the overview tells about a range.
codec::Object RangeCardDocument(const Scene& scene, const inspect::TopRange& range);

codec::Value CommandsDocument(const std::vector<inspect::ReadyCommand>& commands);

/// Returns the range of this key. Fails with kNotFound.
base::Result<const inspect::TopRange*> RangeOfKey(const Scene& scene, std::string_view key);

/// Reads an address or a port of a pool. Fails with kInvalid; `what` names the parameter.
base::Result<base::U128> ReadValueOf(alloc::PoolId pool, std::string_view text,
                                     std::string_view what);

}  // namespace berth::cli
