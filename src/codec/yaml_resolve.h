// How YAML readers take a plain scalar. For use inside codec.
#pragma once

#include <string_view>

namespace berth::codec {

/// Whether some reader would take the plain scalar `text` for something other than a string: null,
/// a boolean, a number, a timestamp, or a merge or default key. Goes by YAML 1.1 (yes, 0x1F,
/// 1:30, ...), by YAML 1.2 (0o17) and by what Go's reader, which is kubectl's, takes on top (1e3).
bool IsTakenForNonString(std::string_view text);

}  // namespace berth::codec
