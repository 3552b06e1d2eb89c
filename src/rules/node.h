// Nodes of core/v1. No agent on a machine talks to this server: a Node is what clients say about a
// machine. Pure.
#pragma once

#include <string>
#include <vector>

#include "codec/value.h"
#include "rules/field_error.h"

namespace berth::rules {

/// Makes podCIDR and podCIDRs agree, and fills in `allocatable`.
void DefaultNode(codec::Value& node);

/// Adds the taint that each new Node has until it is ready, and removes fields that are no longer
/// in use.
void PrepareNodeCreate(codec::Value& node);
void PrepareNodeUpdate(codec::Value& node, const codec::Value& old);
void PrepareNodeStatusUpdate(codec::Value& node, const codec::Value& old);

FieldErrors ValidateNodeCreate(const codec::Value& node);
FieldErrors ValidateNodeUpdate(const codec::Value& node, const codec::Value& old);
FieldErrors ValidateNodeStatusUpdate(const codec::Value& node, const codec::Value& old);

std::vector<std::string> NodeWarnings(const codec::Value& node);

}  // namespace berth::rules
