#include "ui/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/escape.h"
#include "codec/json.h"

namespace berth::ui {
namespace {

constexpr int kBadRequest = 400;
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Calls `take` with each part of a list in a header, until it returns true. Returns whether it
/// did.
template <typename Take>
bool AnyPart(std::string_view list, const Take& take) {
  while (!list.empty()) {
    const size_t end = list.find(',');
    std::string_view part = list.substr(0, end);
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 1);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (take(part)) return true;
  }
  return false;
}

}  // namespace

http::Response Secured(http::Response response) {
  http::Headers& headers = response.headers;
  headers.Add("content-security-policy", kPolicy);
  headers.Add("x-content-type-options", "nosniff");
  // With no-referrer browsers would send "Origin: null", which says nothing.
  headers.Add("referrer-policy", "same-origin");
  headers.Add("cross-origin-opener-policy", "same-origin");
  headers.Add("cross-origin-resource-policy", "same-origin");
  headers.Add("x-frame-options", "DENY");
  headers.Add("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()");
  return response;
}

http::Response JsonAnswer(int code, const codec::Value& document) {
  return {.code = code,
          .headers = {{"content-type", "application/json"}, {"cache-control", "no-store"}},
          .body = codec::WriteJson(document) + "\n"};
}

http::Response ErrorAnswer(int code, std::string_view message) {
  return JsonAnswer(code, codec::Object{{"code", code}, {"message", message}});
}

http::Response ErrorAnswer(const base::Error& error) {
  const bool invalid = error.reason == base::Reason::kInvalid;
  return ErrorAnswer(invalid ? kBadRequest : base::HttpCode(error.reason), error.message);
}

http::Response PageAnswer(const Page& page) {
  std::string body = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n{}<title>{}</title>\n</head>\n"
      "<body>\n<h1>{}</h1>\n",
      page.go_on ? "<meta http-equiv=\"refresh\" content=\"0; url=/\">\n" : "",
      base::EscapedMarkup(page.title), base::EscapedMarkup(page.title));
  for (const std::string& paragraph : page.paragraphs) {
    body += fmt::format("<p>{}</p>\n", base::EscapedMarkup(paragraph));
  }
  body += "<p><a href=\"/\">Go to the page</a></p>\n</body>\n</html>\n";
  return {.code = page.code,
          .headers = {{"content-type", "text/html; charset=utf-8"}, {"cache-control", "no-store"}},
          .body = std::move(body)};
}

bool NamesTag(std::string_view if_none_match, std::string_view tag) {
  return AnyPart(if_none_match, [tag](std::string_view part) {
    if (part.starts_with("W/")) part.remove_prefix(2);  // A weak comparison is enough for a GET.
    return part == "*" || part == tag;
  });
}

bool NamesEncoding(std::string_view accept_encoding, std::string_view encoding) {
  return AnyPart(accept_encoding, [encoding](std::string_view part) {
    const size_t semicolon = part.find(';');
    std::string_view name = part.substr(0, semicolon);
    while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
    const bool is_it = std::ranges::equal(name, encoding, [](char a, char b) {
      return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + ('a' - 'A')) : a) == b;
    });
    if (!is_it || semicolon == std::string_view::npos) return is_it;
    const size_t q = part.find("q=", semicolon);
    if (q == std::string_view::npos) return true;
    // Every q but 0, 0.0, 0.00 and 0.000 accepts it.
    return part.substr(q + 2).find_first_not_of("0. ") != std::string_view::npos;
  });
}

}  // namespace berth::ui
