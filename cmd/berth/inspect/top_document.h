// The overview of a cluster as a document for scripts. Pure.
#pragma once

#include <vector>

#include "codec/value.h"
#include "inspect/top.h"

namespace berth::cli {

/// Returns the document. Every key is always there; what is unknown is null.
codec::Value TopDocument(const inspect::Cluster& cluster, const inspect::TopView& view);

/// Returns what namespaces hold, as `namespaces` of the document.
codec::Value HoldersDocument(const std::vector<inspect::Holder>& holders);

/// Returns a range as the documents of `top` and `forecast` name it.
codec::Object RangeNameDocument(const inspect::RangeRef& range);

}  // namespace berth::cli
