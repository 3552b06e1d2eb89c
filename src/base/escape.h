// Text as JSON carries it, for everything that writes JSON: the log and the codec. Works on any
// bytes: what is not well-formed UTF-8 comes out as U+FFFD, one per offending byte, as Go does it.
// Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::base {

/// Appends `text` as a JSON string, quotes included. Besides what JSON demands, DEL, the C1
/// controls and the Unicode line separators are escaped, so that the result is one line to every
/// reader and cannot steer a terminal. HTML is left alone.
void AppendJsonString(std::string& out, std::string_view text);

/// Appends the shortest text that reads back as exactly `value`, which must be finite. It always
/// has a point or an exponent, so that it reads back as a double and not as an integer.
void AppendJsonDouble(std::string& out, double value);

/// The offset of the first byte that is not part of well-formed UTF-8; npos if there is none.
size_t FindInvalidUtf8(std::string_view text);

/// `text` with U+FFFD for each byte that is not part of well-formed UTF-8.
std::string ToValidUtf8(std::string_view text);

}  // namespace berth::base
