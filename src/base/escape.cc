#include "base/escape.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace berth::base {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kHexDigits = "0123456789abcdef";

uint8_t ByteAt(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
}

bool IsContinuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// Returns the length in bytes of the sequence at the front of `text`, or 0 if it is ill-formed. The
// narrower ranges of the second byte exclude overlong forms, surrogates and values above U+10FFFF.
size_t SequenceLength(std::string_view text) {
  const uint8_t lead = ByteAt(text, 0);
  if (lead < 0x80) return 1;
  const uint8_t second = ByteAt(text, 1);
  if (lead < 0xC2 || lead > 0xF4 || !IsContinuation(second)) return 0;
  if (lead < 0xE0) return 2;
  if (!IsContinuation(ByteAt(text, 2))) return 0;
  if (lead < 0xF0) {
    const bool overlong = lead == 0xE0 && second < 0xA0;
    const bool surrogate = lead == 0xED && second > 0x9F;
    return overlong || surrogate ? 0 : 3;
  }
  if (!IsContinuation(ByteAt(text, 3))) return 0;
  const bool overlong = lead == 0xF0 && second < 0x90;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || too_large ? 0 : 4;
}

void AppendUnicodeEscape(std::string& out, unsigned code) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kHexDigits[(code >> shift) & 0xF];
}

// Appends the escape of `byte`, which must be ASCII and need one.
void AppendAsciiEscape(std::string& out, uint8_t byte) {
  switch (byte) {
    case '"':
    case '\\':
      out += '\\';
      out += static_cast<char>(byte);
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      AppendUnicodeEscape(out, byte);
  }
}

bool IsPlainAscii(uint8_t byte) {
  return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

// Returns the code of a well-formed sequence that is escaped though JSON does not require it, or 0.
unsigned EscapedCode(std::string_view sequence) {
  const uint8_t second = ByteAt(sequence, 1);
  if (sequence.size() == 2 && ByteAt(sequence, 0) == 0xC2 && second < 0xA0) return second;
  if (sequence == "\xE2\x80\xA8") return 0x2028;
  if (sequence == "\xE2\x80\xA9") return 0x2029;
  return 0;
}

// Appends one multi-byte sequence from the front of `text`. Returns the number of bytes it took.
size_t AppendMultiByte(std::string& out, std::string_view text) {
  const size_t length = SequenceLength(text);
  if (length == 0) {
    out += kReplacement;
    return 1;
  }
  const std::string_view sequence = text.substr(0, length);
  if (const unsigned code = EscapedCode(sequence); code != 0) {
    AppendUnicodeEscape(out, code);
  } else {
    out += sequence;
  }
  return length;
}

}  // namespace

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  size_t i = 0;
  while (i < text.size()) {
    const size_t run = i;
    while (i < text.size() && IsPlainAscii(ByteAt(text, i))) ++i;
    out += text.substr(run, i - run);
    if (i == text.size()) break;
    if (ByteAt(text, i) < 0x80) {
      AppendAsciiEscape(out, ByteAt(text, i));
      ++i;
    } else {
      i += AppendMultiByte(out, text.substr(i));
    }
  }
  out += '"';
}

void AppendJsonDouble(std::string& out, double value) {
  // As in Go, there is an exponent only where the digits would get long.
  const double size = std::fabs(value);
  const bool scientific = size != 0 && (size < 1e-6 || size >= 1e21);
  const auto format = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  std::array<char, 64> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  const size_t padding = text.find("e-0");  // to_chars writes two digits even if one is enough.
  if (padding != std::string_view::npos) {
    out.append(text, 0, padding + 2).append(text, padding + 3);
    return;
  }
  out += text;
  if (text.find_first_of(".e") == std::string_view::npos) out += ".0";
}

size_t FindInvalidUtf8(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    const size_t length = SequenceLength(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string ToValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (true) {
    const size_t bad = FindInvalidUtf8(text);
    out += text.substr(0, bad);
    if (bad == std::string_view::npos) return out;
    out += kReplacement;
    text.remove_prefix(bad + 1);
  }
}

std::string EscapedMarkup(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace berth::base
