// How YAML parsers read a plain scalar. For use inside codec.
#pragma once

#include <string_view>

namespace berth::codec {

/// Returns whether some parser would read the plain scalar `text` as something other than a string:
/// null, a boolean, a number, a timestamp, or a merge or default key. The rules are those of YAML
/// 1.1 (yes, 0x1F, 1:30, ...), of YAML 1.2 (0o17), and of Go's parser, which kubectl uses (1e3).
bool IsTakenForNonString(std::string_view text);

}  // namespace berth::codec
