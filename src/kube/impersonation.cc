#include "kube/impersonation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/ascii.h"
#include "base/go_text.h"

namespace berth::kube {
namespace {

bool IsHeaderNameCharacter(char c) {
  const char lower = base::ToLower(c);
  constexpr std::string_view kOther = "!#$&'*+-.^_`|~";
  return base::IsDigit(c) || (lower >= 'a' && lower <= 'z') || kOther.find(c) != kOther.npos;
}

/// Returns the name of extra information as the end of a header's name. Other characters are
/// escaped as in a URL, and so is '%'.
std::string HeaderNameOf(std::string_view key) {
  std::string out;
  for (const char c : key) {
    out += IsHeaderNameCharacter(c) ? std::string(1, c)
                                    : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

bool CanBeSent(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    return c == '\t' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
  });
}

}  // namespace

base::Result<std::vector<std::pair<std::string, std::string>>> ImpersonationHeaders(
    const Impersonation& who) {
  std::vector<std::pair<std::string, std::string>> headers;
  if (who == Impersonation()) return headers;
  if (who.user.empty()) {
    return base::Fail(base::Reason::kInvalid,
                      "a group, uid or extra information is to be impersonated, but no user: name "
                      "one with --as or `as`");
  }
  headers.emplace_back("Impersonate-User", who.user);
  if (!who.uid.empty()) headers.emplace_back("Impersonate-Uid", who.uid);
  for (const std::string& group : who.groups) headers.emplace_back("Impersonate-Group", group);
  for (const auto& [key, values] : who.extra) {
    for (const std::string& value : values) {
      headers.emplace_back("Impersonate-Extra-" + HeaderNameOf(key), value);
    }
  }
  for (const auto& [name, value] : headers) {
    if (!CanBeSent(value)) {
      return base::Fail(base::Reason::kInvalid, fmt::format("{} cannot be sent as the header {}",
                                                            base::GoQuoted(value), name));
    }
  }
  return headers;
}

}  // namespace berth::kube
