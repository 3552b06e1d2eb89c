// JSON merge patch, RFC 7386.
#pragma once

#include "codec/value.h"

namespace berth::merge {

/// What is null in `patch` goes, objects are merged, everything else takes the place of what is
/// there. Cannot fail. Takes time linear in both; recurses once per level of the patch.
void ApplyMergePatch(codec::Value& target, const codec::Value& patch);

}  // namespace berth::merge
