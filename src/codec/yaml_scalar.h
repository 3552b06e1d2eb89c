// How the API server's YAML parser reads a scalar. For use inside codec.
#pragma once

#include <string_view>

#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

/// Reads a plain scalar without a tag: null, a boolean, a number or a string. Infinities and NaN,
/// which JSON does not have, are errors.
base::Result<Value> ResolvePlain(std::string_view text);

/// Reads a scalar with a tag ("tag:yaml.org,2002:int") and any style.
base::Result<Value> ResolveTagged(std::string_view tag, std::string_view text);

}  // namespace berth::codec
