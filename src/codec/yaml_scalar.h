// What the API server's YAML reader makes of a scalar. For use inside codec.
#pragma once

#include <string_view>

#include "base/result.h"
#include "codec/value.h"

namespace berth::codec {

/// A plain scalar without a tag: null, a boolean, a number or a string. An Error for infinities and
/// NaN, which JSON does not have.
base::Result<Value> ResolvePlain(std::string_view text);

/// A scalar with a tag ("tag:yaml.org,2002:int"), whatever its style.
base::Result<Value> ResolveTagged(std::string_view tag, std::string_view text);

}  // namespace berth::codec
