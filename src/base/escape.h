// Text as JSON and as HTML or XML carry it, for everything that writes them. The functions accept
// any bytes. Each byte that is not part of well-formed UTF-8 becomes U+FFFD, as in Go. Pure
// functions, safe from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::base {

/// Appends `text` as a JSON string with its quotes. Besides the characters that JSON requires to be
/// escaped, DEL, the C1 controls and the Unicode line separators are escaped too. So the result is
/// one line to every reader and cannot control a terminal. HTML characters are not escaped.
void AppendJsonString(std::string& out, std::string_view text);

/// Returns text as HTML and XML carry it, also in attributes with double quotes. Bytes that are not
/// well-formed UTF-8 stay as they are.
std::string EscapedMarkup(std::string_view text);

/// Appends the shortest text that reads back as exactly `value`, which must be finite. The text
/// always has a point or an exponent, so that it reads back as a double and not as an integer.
void AppendJsonDouble(std::string& out, double value);

/// Returns the offset of the first byte that is not part of well-formed UTF-8, or npos if all are.
size_t FindInvalidUtf8(std::string_view text);

/// Returns `text` with U+FFFD in place of each byte that is not part of well-formed UTF-8.
std::string ToValidUtf8(std::string_view text);

}  // namespace berth::base
