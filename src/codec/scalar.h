// What JSON and YAML write alike. For use inside codec.
#pragma once

#include <string>

#include "codec/value.h"

namespace berth::codec {

/// Appends null, true, false or a number; nothing for a string, an array or an object.
void AppendPlainScalar(std::string& out, const Value& value);

}  // namespace berth::codec
