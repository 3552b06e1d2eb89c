// Values that a Service gets before anything is allocated. In the order of a write:
//
//   create: DefaultService, DropDisabledFields, PrepareServiceCreate, SyncClusterIps,
//           InitServiceFamilies
//   update: DefaultService, DropDisabledFields, DecorateService(old), CarryAllocated,
//           SyncClusterIps, PrepareServiceUpdate, InitServiceFamilies
//   status: DefaultService, PrepareServiceStatusUpdate
//   read:   DecorateService
//
// Everything here is pure. New fields are appended to their object. A caller that needs the order
// of the descriptor must sort the object afterwards.
#pragma once

#include <span>

#include "codec/value.h"
#include "ip/addr.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Sets defaults on every decode: affinity, type, protocols, target ports, traffic policies and so
/// on.
void DefaultService(codec::Value& service);

/// Fills in fields that objects of older versions lack, on every read of the main resource. It uses
/// the families that are configured now, the default one first.
void DecorateService(codec::Value& service, std::span<const ip::Family> configured);

/// Drops allocateLoadBalancerNodePorts if the gate ServiceLBNodePortControl is off, unless the
/// Service has the field already. An existing field keeps its effect. `old` is null on create.
void DropDisabledFields(codec::Value& service, const codec::Value* old, bool lb_node_ports);

/// Prepares a create: empties the status.
void PrepareServiceCreate(codec::Value& service);

/// Prepares an update: restores clusterIP(s), node ports (matched by port name) and the health
/// check port that the client left out. So sending the same manifest again changes nothing.
void CarryAllocated(codec::Value& service, const codec::Value& old);

/// Keeps clusterIP and clusterIPs consistent if only one was given or changed. `old` is null on
/// create.
void SyncClusterIps(codec::Value& service, const codec::Value* old);

/// Decides ipFamilyPolicy and ipFamilies. After an error the object must not be used. `old` is null
/// on create. A Service keeps its families even if the cluster no longer has them, and a Service
/// that is being deleted gets no new family unless it asks. If the gate IPv6DualStack
/// (`dual_stack`) is off, only the first family counts as configured.
FieldErrors InitServiceFamilies(codec::Value& service, const codec::Value* old,
                                std::span<const ip::Family> configured, bool dual_stack = true);

/// Prepares an update: copies the status of `old`, and removes fields that no longer fit the type
/// if the client left them unchanged.
void PrepareServiceUpdate(codec::Value& service, const codec::Value& old);

/// Prepares a status update: copies the spec of `old`.
void PrepareServiceStatusUpdate(codec::Value& service, const codec::Value& old);

}  // namespace berth::rules
