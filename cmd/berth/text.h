// Small pieces of text that every output of the program shares. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/uint128.h"

namespace berth::cli {

/// "65536" as "65,536". Takes the text so that it also serves 2^128, which has no number here.
std::string WithSeparators(std::string_view decimal);
std::string WithSeparators(base::U128 number);

/// "2^80" for a large power of two, "about 2^80" for a number very close to one, else nothing: a
/// hint for numbers too long to read.
std::string PowerHint(base::U128 number);

/// The number in at most 19 columns: all its digits, or "~2^80".
std::string ShortNumber(base::U128 number);

/// Columns on a terminal, taking every character for one wide.
size_t DisplayWidth(std::string_view utf8);

/// At most `width` columns of `utf8`; what is cut off is shown as `ellipsis`.
std::string Shortened(std::string_view utf8, size_t width, std::string_view ellipsis);

/// `text` with blanks up to `width` columns, behind it or before it.
std::string PadRight(std::string_view text, size_t width);
std::string PadLeft(std::string_view text, size_t width);

/// Breaks a paragraph at blanks into lines of at most `width` columns, each begun by `indent`
/// blanks and ended by a newline. A word too long for a line is cut there.
std::string Wrapped(std::string_view paragraph, size_t indent, size_t width);

}  // namespace berth::cli
