// What a Service is given before anything is allocated. In the order of a write:
//
//   create: DefaultService, DropDisabledFields, PrepareServiceCreate, SyncClusterIps,
//           InitServiceFamilies
//   update: DefaultService, DropDisabledFields, DecorateService(old), CarryAllocated,
//           SyncClusterIps, PrepareServiceUpdate, InitServiceFamilies
//   status: DefaultService, PrepareServiceStatusUpdate
//   read:   DecorateService
//
// All of it is pure. Fields that are added go to the end of their object: whoever needs the order
// of the descriptor puts the object in order afterwards.
#pragma once

#include <span>

#include "codec/value.h"
#include "ip/addr.h"
#include "rules/field_error.h"

namespace berth::rules {

/// On every decode: affinity, type, protocols, target ports, traffic policies and so on.
void DefaultService(codec::Value& service);

/// On every read of the main resource: what objects of older versions lack, in terms of the
/// families that are configured now, the default one first.
void DecorateService(codec::Value& service, std::span<const ip::Family> configured);

/// Without the gate ServiceLBNodePortControl: allocateLoadBalancerNodePorts is dropped, unless the
/// Service has it already; then it counts as ever. `old` is null on create.
void DropDisabledFields(codec::Value& service, const codec::Value* old, bool lb_node_ports);

/// Create: status is emptied.
void PrepareServiceCreate(codec::Value& service);

/// Update: restores clusterIP(s), node ports (matched by port name) and the health check port that
/// the client left out, so that sending the same manifest again changes nothing.
void CarryAllocated(codec::Value& service, const codec::Value& old);

/// Keeps clusterIP and clusterIPs in step when only one was given or changed. `old` is null on
/// create.
void SyncClusterIps(codec::Value& service, const codec::Value* old);

/// Decides ipFamilyPolicy and ipFamilies. On errors the object is of no further use. `old` is null
/// on create. Families that a Service has are its own, even if the cluster no longer has them, and
/// one that is being deleted gets no other ones unasked. Without the gate IPv6DualStack
/// (`dual_stack`) only the first family counts as configured.
FieldErrors InitServiceFamilies(codec::Value& service, const codec::Value* old,
                                std::span<const ip::Family> configured, bool dual_stack = true);

/// Update: status is that of `old`; what no longer goes with the type is removed if the client left
/// it untouched.
void PrepareServiceUpdate(codec::Value& service, const codec::Value& old);

/// Status update: the spec is that of `old`.
void PrepareServiceStatusUpdate(codec::Value& service, const codec::Value& old);

}  // namespace berth::rules
