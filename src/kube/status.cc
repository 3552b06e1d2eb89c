#include "kube/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "api/meta.h"
#include "base/escape.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/protobuf.h"
#include "codec/read.h"

namespace berth::kube {
namespace {

using base::Reason;
using codec::IntAt;
using codec::StringAt;

constexpr size_t kLongestText = 300;

/// Returns the reason with this text or, if there is no such reason, the first one with this code.
Reason ReasonOf(std::string_view text, int code) {
  std::optional<Reason> by_code;
  for (int i = 1; i <= static_cast<int>(Reason::kTimeout); ++i) {
    const auto reason = static_cast<Reason>(i);
    if (base::ReasonText(reason) == text) return reason;
    if (!by_code && base::HttpCode(reason) == code) by_code = reason;
  }
  return by_code.value_or(code >= 500 ? Reason::kInternalError : Reason::kUnknown);
}

std::string Shortened(std::string_view text) {
  std::string out = base::ToValidUtf8(text.substr(0, kLongestText));
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, ' ');
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (text.size() > kLongestText) out += "...";
  return out;
}

/// Cuts `text` after the next `end` and returns what was before it. Returns "" if it has no `end`.
std::string_view TakeUntil(std::string_view& text, std::string_view end) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return {};
  const std::string_view before = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return before;
}

}  // namespace

ServerStatus StatusOf(const codec::Value& document, int code) {
  const int64_t own = IntAt(document, "code");
  ServerStatus status{.code = own >= 100 && own <= 599 ? static_cast<int>(own) : code};
  status.reason = ReasonOf(StringAt(document, "reason"), status.code);
  status.message = Shortened(StringAt(document, "message"));
  status.continue_token = StringAt(document, "metadata", "continue");
  const int64_t seconds = IntAt(document, "details", "retryAfterSeconds");
  status.retry_after_seconds = static_cast<int>(std::clamp<int64_t>(seconds, 0, 3600));
  return status;
}

ServerStatus ReadStatus(int code, std::string_view body) {
  if (body.starts_with(codec::kProtobufMagic)) {
    const auto decoded = codec::DecodeProtobuf(body, api::kStatus);
    if (decoded && decoded->kind == "Status") return StatusOf(decoded->object, code);
    return {.code = code, .reason = ReasonOf({}, code), .message = "an answer in protobuf"};
  }
  const auto document = codec::ParseJson(body);
  if (document && StringAt(*document, "kind") == "Status") return StatusOf(*document, code);
  return {.code = code, .reason = ReasonOf({}, code), .message = Shortened(body)};
}

// services is forbidden: User "jane" cannot list resource "services" in API group "" at the cluster
// scope: RBAC: ...
std::string MissingRight(std::string_view message) {
  std::string_view rest = message;
  if (TakeUntil(rest, "forbidden: User \"").empty()) {
    rest = message;
    if (!rest.starts_with("forbidden: User \"")) return std::string(message);
    rest.remove_prefix(std::string_view("forbidden: User \"").size());
  }
  const std::string_view user = TakeUntil(rest, "\" cannot ");
  if (user.empty()) return std::string(message);
  std::string_view path = rest;
  const std::string_view path_verb = TakeUntil(path, " path \"");
  if (!path_verb.empty() && path_verb.find(' ') == std::string_view::npos) {
    return fmt::format("user \"{}\" may not {} {}", user, path_verb, TakeUntil(path, "\""));
  }
  const std::string_view verb = TakeUntil(rest, " resource \"");
  const std::string_view resource = TakeUntil(rest, "\" in API group \"");
  if (verb.empty() || resource.empty()) return std::string(message);
  const size_t group_end = rest.find('"');
  if (group_end == std::string_view::npos) return std::string(message);
  const std::string_view group = rest.substr(0, group_end);
  rest.remove_prefix(group_end + 1);
  const std::string_view scope = rest.substr(0, rest.find(": "));
  return fmt::format("user \"{}\" may not {} {}{}{}{}", user, verb, resource,
                     group.empty() ? "" : ".", group, scope);
}

}  // namespace berth::kube
