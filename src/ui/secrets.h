// Secrets that only a server and one browser know: random text, and comparisons that take the same
// time whatever the text is. Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/headers.h"

namespace berth::ui {

/// The letters of a secret: 32 random bytes in hexadecimal.
inline constexpr size_t kSecretLetters = 64;

/// Returns a new secret, from the generator of the kernel.
std::string NewSecret();

/// Returns whether both texts are equal. The time depends on the length of `given` only.
bool IsSame(std::string_view secret, std::string_view given);

/// Returns the values of all cookies of this name, as the client sent them, at most 20. A browser
/// sends more than one if another program on the machine has set one of the same name.
std::vector<std::string_view> FindCookies(const http::Headers& headers, std::string_view name);

struct CookieOptions {
  std::string name = {};
  bool secure = false;  ///< The browser sends it over TLS only.
};
/// Returns the value of a Set-Cookie header. Scripts cannot read the cookie, other sites cannot
/// make a browser send it, and it ends with the browser. An empty value deletes the cookie.
std::string SetCookie(const CookieOptions& options, std::string_view value);

/// Returns the name of a cookie that no other process uses: browsers send the cookies of 127.0.0.1
/// to all of its ports.
std::string NewCookieName(bool secure);

}  // namespace berth::ui
