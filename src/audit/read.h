// Reads the facts of objects, in the form in which an API server shows them or in which they are
// stored. Every function accepts any object; what it cannot read is left out. Pure.
#pragma once

#include <optional>

#include "alloc/range_table.h"
#include "audit/facts.h"
#include "codec/value.h"
#include "rules/record_notes.h"

namespace berth::audit {

/// Reads a Service. `metadata.resourceVersion` is read where there is one, as in all other kinds.
ServiceFacts ReadService(const codec::Value& service);

/// Reads an IPAddress of networking.k8s.io, given the server's notes about it. Returns nullopt if
/// its name is not an address.
std::optional<RecordFacts> ReadIpAddress(const codec::Value& address,
                                         const rules::RecordNotes& notes);
/// Reads the same object as a Kubernetes cluster shows it, without notes.
std::optional<RecordFacts> ReadPlainIpAddress(const codec::Value& address);
/// Reads an IPAddress of allocation.berth.io. Returns nullopt if it has no address.
std::optional<RecordFacts> ReadAllocatedAddress(const codec::Value& address);
/// Reads a NodePort. Returns nullopt if its name is not a port.
std::optional<RecordFacts> ReadNodePort(const codec::Value& port);

/// Reads an IPRange, a NodePortRange or a ServiceCIDR. The caller sets the key.
RangeObjectFacts ReadRange(alloc::RangeKind kind, const codec::Value& range);

}  // namespace berth::audit
