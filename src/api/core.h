// The messages of the kinds and of their parts. Constants; see schema.h.
#pragma once

#include "api/schema.h"

namespace berth::api {

// core/v1
extern const Message kNamespace;
extern const Message kService;
extern const Message kServiceSpec;
extern const Message kServicePort;
extern const Message kEvent;
extern const Message kEventSource;
extern const Message kObjectReference;
extern const Message kRangeAllocation;
extern const Message kEndpoints;
extern const Message kNode;

// discovery.k8s.io/v1
extern const Message kEndpointSlice;

// events.k8s.io/v1
extern const Message kEventsEvent;

// coordination.k8s.io/v1
extern const Message kLease;

// networking.k8s.io/v1
extern const Message kServiceCidr;
extern const Message kIpAddress;
extern const Message kParentReference;

// allocation.berth.io/v1alpha1
extern const Message kIpRange;
extern const Message kAllocatedAddress;
extern const Message kNodePortRange;
extern const Message kNodePort;
extern const Message kReplica;
extern const Message kRangeFence;

}  // namespace berth::api
