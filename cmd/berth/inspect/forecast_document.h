// When each range is full, as a document for scripts. Pure.
#pragma once

#include "codec/value.h"
#include "inspect/forecast.h"

namespace berth::cli {

/// Returns the document. Every key is always there; what is unknown is null.
codec::Value ForecastDocument(const inspect::Cluster& cluster, const inspect::ForecastView& view);

}  // namespace berth::cli
