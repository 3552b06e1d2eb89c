// The overview of a cluster as text for a terminal. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "berth/paint.h"
#include "inspect/top.h"

namespace berth::cli {

/// Returns the overview. `wide` adds columns, and does not cut lines.
std::string TopText(const inspect::Cluster& cluster, const inspect::TopView& view,
                    const Style& style, bool wide);

/// Returns the first lines of every command about a cluster: the source, the server and the time.
std::string SourceLine(const inspect::Cluster& cluster, const Paint& paint);

/// Returns the columns for sentences. Longer lines are hard to read.
inline size_t ProseWidth(const Paint& paint) { return std::min<size_t>(paint.width(), 100); }

/// Returns an advice, marked as such and wrapped.
std::string AdviceLines(std::string_view advice, size_t indent, const Paint& paint);

}  // namespace berth::cli
