#include "ui/secrets.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

namespace berth::ui {
namespace {

constexpr size_t kMaxCookies = 20;

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string NewSecret() {
  std::array<uint8_t, kSecretLetters / 2> bytes{};
  size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = getrandom(bytes.data() + have, bytes.size() - have, 0);
    // Without random bytes there is no secret. That cannot happen on a kernel that has booted.
    if (got < 0 && errno != EINTR) std::abort();
    if (got > 0) have += static_cast<size_t>(got);
  }
  std::string text;
  text.reserve(kSecretLetters);
  for (const uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

bool IsSame(std::string_view secret, std::string_view given) {
  if (secret.empty()) return false;
  unsigned difference = secret.size() == given.size() ? 0 : 1;
  for (size_t i = 0; i < given.size(); ++i) {
    difference |= static_cast<unsigned>(static_cast<uint8_t>(secret[i % secret.size()])) ^
                  static_cast<unsigned>(static_cast<uint8_t>(given[i]));
  }
  return difference == 0;
}

std::vector<std::string_view> FindCookies(const http::Headers& headers, std::string_view name) {
  std::vector<std::string_view> found;
  for (std::string_view rest : headers.FindAll("cookie")) {
    while (!rest.empty() && found.size() < kMaxCookies) {
      const size_t end = rest.find(';');
      const std::string_view pair = Trimmed(rest.substr(0, end));
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      const size_t equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
      found.push_back(pair.substr(equals + 1));
    }
  }
  return found;
}

std::string SetCookie(const CookieOptions& options, std::string_view value) {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}{}", options.name, value,
                     options.secure ? "; Secure" : "", value.empty() ? "; Max-Age=0" : "");
}

std::string NewCookieName(bool secure) {
  constexpr size_t kLetters = 12;
  // A browser accepts a name with this prefix from a server with TLS only, and for one host only.
  return fmt::format("{}berth-{}", secure ? "__Host-" : "", NewSecret().substr(0, kLetters));
}

}  // namespace berth::ui
