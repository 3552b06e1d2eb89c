// What etcd's errors mean for the engine, and how to say them to a person. etcd tells them apart by
// words; these are the same in 3.4, 3.5 and 3.6.
#pragma once

#include "base/error.h"
#include "store/etcd/context.h"

namespace berth::store::etcd {

bool IsLeaseGone(const CallError& error);
bool IsCompacted(const CallError& error);
bool IsFuture(const CallError& error);
bool IsNoSpace(const CallError& error);

/// Nothing happened, and the same request may do soon: no connection, no leader, overload.
bool IsPassing(const CallError& error);

/// For what comes, or is still under way, when the engine closes.
base::Error ClosingError();

/// For whoever asked for a write that did not happen. Notes in the status what others should know.
base::Error ExplainWrite(const CallError& error, const Context& context);

}  // namespace berth::store::etcd
