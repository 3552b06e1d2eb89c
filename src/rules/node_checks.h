// The parts of a Node's validation, field by field. Internal; see node.h.
#pragma once

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Checks the annotations in which old schedulers kept taints and Pods to avoid.
void CheckNodeAnnotations(FieldErrors& errors, const codec::Value& node);
void CheckTaints(FieldErrors& errors, const Path& path, const codec::Array& taints);
/// Checks `status.capacity` and `status.allocatable`.
void CheckResources(FieldErrors& errors, const codec::Value& node);
void CheckSwap(FieldErrors& errors, const codec::Value& node);
void CheckDeclaredFeatures(FieldErrors& errors, const codec::Value& node);
void CheckPodCidrs(FieldErrors& errors, const codec::Value& node);
/// Refuses addresses that are listed twice.
void CheckNodeAddresses(FieldErrors& errors, const codec::Value& node);
/// Checks `spec.configSource` and `status.config`, which only very old objects have.
void CheckConfig(FieldErrors& errors, const codec::Value& node);

}  // namespace berth::rules
