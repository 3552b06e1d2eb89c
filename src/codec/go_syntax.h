// What Go's JSON decoder says about a text that is not JSON: clients and their tests compare these
// sentences. For use inside codec, after another parser has refused the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {

/// "invalid character 'x' looking for beginning of value", or nothing if Go would find no fault in
/// the syntax. Never recurses; takes one pass.
std::optional<std::string> GoSyntaxError(std::string_view text);

}  // namespace berth::codec
