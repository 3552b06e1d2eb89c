// What etcd's errors mean for the engine, and how to word them for a person. etcd tells its errors
// apart only by their text, which is the same in 3.4, 3.5 and 3.6.
#pragma once

#include "base/error.h"
#include "store/etcd/etcd_context.h"

namespace berth::store::etcd {

bool IsLeaseGone(const CallError& error);
bool IsCompacted(const CallError& error);
bool IsFuture(const CallError& error);
bool IsNoSpace(const CallError& error);

/// Returns whether nothing happened and the same request may succeed soon: no connection, no
/// leader, or overload.
bool IsPassing(const CallError& error);

/// Returns the error for requests that arrive, or are still in flight, when the engine closes.
base::Error ClosingError();

/// Returns the error for the caller of a write that did not happen. Records in the status what
/// concerns other callers too.
base::Error ExplainWrite(const CallError& error, const Context& context);

}  // namespace berth::store::etcd
