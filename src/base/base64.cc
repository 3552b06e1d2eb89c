#include "base/base64.h"

#include <cstdint>

namespace berth::base {
namespace {

constexpr std::string_view kUsual =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kForUrls =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string Encode(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  uint32_t bits = 0;
  int count = 0;
  for (const char c : bytes) {
    bits = bits << 8 | static_cast<uint8_t>(c);
    count += 8;
    while (count >= 6) text.push_back(alphabet[bits >> (count -= 6) & 63]);
  }
  if (count > 0) text.push_back(alphabet[bits << (6 - count) & 63]);
  return text;
}

tl::expected<std::string, size_t> Decode(std::string_view text, std::string_view alphabet) {
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = alphabet.find(text[i]);
    if (digit == std::string_view::npos) return tl::unexpected(i);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes.push_back(static_cast<char>(bits >> (count -= 8) & 0xff));
  }
  if (text.size() % 4 == 1) return tl::unexpected(text.size() - 1);
  return bytes;
}

}  // namespace

std::string Base64(std::string_view bytes) {
  std::string text = Encode(bytes, kUsual);
  text.append((4 - text.size() % 4) % 4, '=');
  return text;
}

std::string Base64Url(std::string_view bytes) { return Encode(bytes, kForUrls); }

tl::expected<std::string, size_t> FromBase64(std::string_view text) { return Decode(text, kUsual); }

tl::expected<std::string, size_t> FromBase64Url(std::string_view text) {
  return Decode(text, kForUrls);
}

}  // namespace berth::base
