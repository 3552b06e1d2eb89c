// Text as Go's standard library treats it, for behaviour and messages that Kubernetes takes from
// there. Pure functions that accept any bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth::base {

/// Returns `text` without white space, as Unicode defines it, at both ends, like strings.TrimSpace.
std::string_view GoTrimSpace(std::string_view text);

/// Returns `text` in double quotes as %q writes it. Invisible characters are escaped, and so
/// are bytes that are not UTF-8. Go escapes everything that Unicode does not call printable.
/// Here only what tends to come along with pasted text is escaped: controls, spaces other
/// than ' ', directions, joiners.
std::string GoQuoted(std::string_view text);

/// An invisible character, which GoQuoted would escape.
struct Invisible {
  char32_t value;
  size_t position;  // In bytes.
};
std::optional<Invisible> FirstInvisible(std::string_view text);

/// Makes text from elsewhere safe to print on a terminal. Each invisible character becomes '?', and
/// each byte that is not UTF-8 becomes U+FFFD.
std::string ToVisible(std::string_view text);

/// Returns `text` without invisible characters and with U+FFFD for each byte that is not UTF-8. The
/// result has at most `most_bytes` bytes; it is cut between characters.
std::string OnlyVisible(std::string_view text, size_t most_bytes);

}  // namespace berth::base
