// The errors of Go's JSON decoder for text that is not JSON: clients and their tests compare these
// sentences. For use inside codec, after another parser has refused the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::codec {

/// Returns text like "invalid character 'x' looking for beginning of value". Returns nullopt if Go
/// would accept the syntax. Takes one pass and never recurses.
std::optional<std::string> GoSyntaxError(std::string_view text);

}  // namespace berth::codec
