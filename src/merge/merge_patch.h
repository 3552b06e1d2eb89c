// JSON merge patch, RFC 7386.
#pragma once

#include "codec/value.h"

namespace berth::merge {

/// Applies a patch. Members that are null in `patch` are deleted, objects are merged, and
/// everything else is replaced. Cannot fail. Takes time linear in both, and recurses once
/// per level of the patch.
void ApplyMergePatch(codec::Value& target, const codec::Value& patch);

}  // namespace berth::merge
