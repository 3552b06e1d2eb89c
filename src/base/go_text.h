// Text as Go's standard library treats it, where Kubernetes' behaviour and messages come from it.
// Pure functions on any bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth::base {

/// Without white space, as Unicode defines it, at both ends: strings.TrimSpace.
std::string_view GoTrimSpace(std::string_view text);

/// In double quotes as %q writes it: what nobody would see on a screen is escaped, and so are bytes
/// that are not UTF-8. Go escapes all that Unicode does not call printable; here it is what comes
/// along when text is pasted (controls, spaces other than ' ', directions, joiners).
std::string GoQuoted(std::string_view text);

/// A character that GoQuoted would escape because nobody would see it.
struct Invisible {
  char32_t value;
  size_t position;  // In bytes.
};
std::optional<Invisible> FirstInvisible(std::string_view text);

/// Text from elsewhere made safe to print on a terminal: a '?' for whatever GoQuoted would escape
/// because nobody would see it, U+FFFD for a byte that is not UTF-8.
std::string ToVisible(std::string_view text);

/// Without whatever nobody would see, U+FFFD for a byte that is not UTF-8, and no longer than
/// `most_bytes`: cut between characters.
std::string OnlyVisible(std::string_view text, size_t most_bytes);

}  // namespace berth::base
