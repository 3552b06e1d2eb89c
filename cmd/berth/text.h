// Small pieces of text that every output of the program shares. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/separators.h"
#include "base/uint128.h"

namespace berth::cli {

inline constexpr size_t kIndent = 2;
inline constexpr size_t kColumnGap = 3;

using base::WithSeparators;

/// Returns a hint for numbers that are too long to read: "2^80" for a large power of two, "about
/// 2^80" for a number very close to one, otherwise an empty text.
std::string PowerHint(base::U128 number);

/// Returns the number in at most 19 columns: all its digits, or "~2^80".
std::string ShortNumber(base::U128 number);

/// Returns a number with its noun: "1 Service", "1,200 Services".
std::string Plural(uint64_t count, std::string_view one, std::string_view many);

/// Returns the columns on a terminal, where every character counts as one column.
size_t DisplayWidth(std::string_view utf8);

/// Returns at most `width` columns of `utf8`. If it cuts something off, it ends with `ellipsis`.
std::string Shortened(std::string_view utf8, size_t width, std::string_view ellipsis);

/// Return `text` with blanks up to `width` columns, after it or before it.
std::string PadRight(std::string_view text, size_t width);
std::string PadLeft(std::string_view text, size_t width);

/// Breaks a paragraph at blanks into lines of at most `width` columns. Each line begins with
/// `indent` blanks and ends with a newline. A word that is too long for a line is cut.
std::string Wrapped(std::string_view paragraph, size_t indent, size_t width);

}  // namespace berth::cli
