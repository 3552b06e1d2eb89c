// Finds brackets, quotes and the ends of strings in JSON without parsing it, for those who take a
// large text apart before they parse its parts. Pure functions, safe for any bytes.
#pragma once

#include <cstddef>
#include <string_view>

namespace berth::codec {

/// Returns the first place from `at` on with a bracket or a quote, or the size of the text if it
/// has no more of them.
size_t NextMark(std::string_view text, size_t at);

/// Returns the place after the quote that ends a string, or npos if the text ends first. The string
/// begins with the quote at `begin`. The search begins at `from`, which lies after `begin`: a
/// caller whose text came in parts goes on where the text had ended.
size_t EndOfString(std::string_view text, size_t begin, size_t from);

}  // namespace berth::codec
