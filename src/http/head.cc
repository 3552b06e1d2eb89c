#include "http/head.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <iterator>

#include "base/ascii.h"

namespace berth::http {
namespace {

struct Phrase {
  int code = 0;
  std::string_view text;
};

constexpr Phrase kPhrases[] = {
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {206, "Partial Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Request Entity Too Large"},
    {414, "Request URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {422, "Unprocessable Entity"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
    {505, "HTTP Version Not Supported"},
};

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// Appends "content-type" as "Content-Type", which people and old clients expect.
void AppendTitle(std::string& out, std::string_view name) {
  bool first = true;
  for (const char c : name) {
    out += first ? Upper(c) : c;
    first = c == '-';
  }
}

bool IsWellEscaped(std::string_view text) {
  const auto is_hex = [](char c) { return base::HexDigit(c) >= 0; };
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    if (at + 2 >= text.size() || !is_hex(text[at + 1]) || !is_hex(text[at + 2])) return false;
  }
  return true;
}

}  // namespace

std::string_view ReasonPhrase(int code) {
  for (const Phrase& phrase : kPhrases) {
    if (phrase.code == code) return phrase.text;
  }
  return "Status";
}

bool MayHaveBody(int code) { return code >= 200 && code != 204 && code != 304; }

bool IsConnectionHeader(std::string_view lower_name) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "connection", "content-length", "date",    "keep-alive", "proxy-connection",
      "te",         "trailer",        "upgrade",
  };
  if (lower_name == "transfer-encoding") return true;
  for (const std::string_view name : kNames) {
    if (name == lower_name) return true;
  }
  return false;
}

bool EqualsLower(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (base::ToLower(text[i]) != lower[i]) return false;
  }
  return true;
}

bool SplitTarget(std::string_view target, std::string& path, std::string& query) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (target.size() < scheme.size() || !EqualsLower(target.substr(0, scheme.size()), scheme)) {
      continue;
    }
    target.remove_prefix(scheme.size());
    const size_t end = target.find_first_of("/?");
    target.remove_prefix(end == std::string_view::npos ? target.size() : end);
    if (!target.starts_with('/')) {  // "http://host" and "http://host?x" mean the root.
      path = "/";
      query = target.substr(target.empty() ? 0 : 1);
      return true;
    }
  }
  if (target == "*") {
    path = target;
    return true;
  }
  if (!target.starts_with('/')) return false;
  const size_t mark = target.find('?');
  path = target.substr(0, mark);
  if (!IsWellEscaped(path)) return false;
  if (mark != std::string_view::npos) query = target.substr(mark + 1);
  return true;
}

std::string_view DateText::At(base::WallTime now) {
  using std::chrono::days;
  using std::chrono::floor;
  using std::chrono::seconds;
  const auto second = floor<seconds>(now);
  if (second.time_since_epoch().count() == second_) return text_;
  second_ = second.time_since_epoch().count();
  static constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const auto day = floor<days>(second);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(second - day);
  text_ =
      fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT",
                  kDays[std::chrono::weekday(day).c_encoding()], static_cast<unsigned>(date.day()),
                  kMonths[static_cast<unsigned>(date.month()) - 1], static_cast<int>(date.year()),
                  time.hours().count(), time.minutes().count(), time.seconds().count());
  return text_;
}

void AppendHead1(std::string& out, const Response& response, std::string_view date,
                 std::string_view framing, bool close) {
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.code,
                 ReasonPhrase(response.code));
  for (size_t i = 0; i < response.headers.size(); ++i) {
    const Header header = response.headers[i];
    if (IsConnectionHeader(header.name)) continue;
    AppendTitle(out, header.name);
    out += ": ";
    out += header.value;
    out += "\r\n";
  }
  out += "Date: ";
  out += date;
  out += "\r\n";
  out += framing;
  if (close) out += "Connection: close\r\n";
  out += "\r\n";
}

}  // namespace berth::http
