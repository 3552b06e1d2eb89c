#include "server/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "base/base64.h"
#include "base/go_text.h"
#include "codec/json.h"
#include "codec/read.h"
#include "codec/value.h"
#include "rules/metadata.h"

namespace berth::server {
namespace {

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";

/// Parses a resourceVersion. The error has Kubernetes' text.
base::Result<int64_t> ParseVersion(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && value <= static_cast<uint64_t>(INT64_MAX)) return static_cast<int64_t>(value);
  const bool range = error == std::errc::result_out_of_range || whole;
  return base::Fail(
      base::Reason::kUnknown,
      fmt::format("resourceVersion: Invalid value: {}: strconv.ParseUint: parsing {}: {}",
                  base::GoQuoted(text), base::GoQuoted(text),
                  range ? "value out of range" : "invalid syntax"));
}

base::Error ForbiddenOption(std::string_view field, std::string_view text) {
  return InvalidOption("ListOptions", field, "FieldValueForbidden",
                       fmt::format("Forbidden: {}", text));
}

std::optional<base::Error> CheckMatch(const ListOptions& options, std::string_view match,
                                      std::string_view version) {
  if (options.watch) {
    if (options.send_initial_events) {
      if (match != "NotOlderThan") {
        return ForbiddenOption("resourceVersionMatch",
                               "sendInitialEvents requires setting resourceVersionMatch to "
                               "NotOlderThan");
      }
    } else if (!match.empty()) {
      return ForbiddenOption("resourceVersionMatch",
                             "resourceVersionMatch is forbidden for watch unless sendInitialEvents "
                             "is provided");
    }
    return std::nullopt;
  }
  if (options.send_initial_events) {
    return ForbiddenOption("sendInitialEvents", "sendInitialEvents is forbidden for list");
  }
  if (match.empty()) return std::nullopt;
  if (version.empty()) {
    return ForbiddenOption("resourceVersionMatch",
                           "resourceVersionMatch is forbidden unless resourceVersion is provided");
  }
  if (!options.continue_token.empty()) {
    return ForbiddenOption("resourceVersionMatch",
                           "resourceVersionMatch is forbidden when continue is provided");
  }
  if (match != "Exact" && match != "NotOlderThan") {
    return InvalidOption("ListOptions", "resourceVersionMatch", "FieldValueNotSupported",
                         fmt::format("Unsupported value: {}: supported values: \"Exact\", "
                                     "\"NotOlderThan\", \"\"",
                                     base::GoQuoted(match)));
  }
  if (match == "Exact" && version == "0") {
    return ForbiddenOption("resourceVersionMatch",
                           "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  }
  return std::nullopt;
}

tl::unexpected<base::Error> BadToken(std::string_view why) {
  return base::Fail(base::Reason::kBadRequest,
                    fmt::format("invalid continue token: continue key is not valid: {}", why));
}

/// A Go duration is a 64-bit number of nanoseconds.
constexpr double kLongestGoMilliseconds = 9'223'372'036'854.775;

/// Parses a Go duration ("1m30s", "0.5h") to milliseconds. The error is Go's message.
tl::expected<double, std::string> GoDuration(std::string_view all) {
  constexpr std::array<std::pair<std::string_view, double>, 8> kUnits = {{{"ns", 1e-6},
                                                                          {"us", 1e-3},
                                                                          {"\u00b5s", 1e-3},
                                                                          {"\u03bcs", 1e-3},
                                                                          {"ms", 1},
                                                                          {"s", 1e3},
                                                                          {"m", 6e4},
                                                                          {"h", 3.6e6}}};
  const auto invalid = [&] {
    return tl::unexpected(fmt::format("time: invalid duration {}", base::GoQuoted(all)));
  };
  std::string_view text = all;
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return invalid();
  double total = 0;
  while (!text.empty()) {
    // from_chars would also accept a sign, "inf" and "nan".
    if (text.front() != '.' && (text.front() < '0' || text.front() > '9')) return invalid();
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc()) return invalid();
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    const std::string_view name = text.substr(0, text.find_first_of(".0123456789"));
    if (name.empty()) {
      return tl::unexpected(fmt::format("time: missing unit in duration {}", base::GoQuoted(all)));
    }
    const auto* const unit = std::find_if(kUnits.begin(), kUnits.end(),
                                          [&](const auto& each) { return each.first == name; });
    if (unit == kUnits.end()) {
      return tl::unexpected(fmt::format("time: unknown unit {} in duration {}",
                                        base::GoQuoted(name), base::GoQuoted(all)));
    }
    total += number * unit->second;
    if (total > kLongestGoMilliseconds) return invalid();
    text.remove_prefix(name.size());
  }
  return all.front() == '-' ? -total : total;
}

std::string TakeManager(std::string_view text, rules::FieldErrors& errors) {
  const auto path = [] { return rules::Path("fieldManager"); };
  rules::RequireFieldManager(errors, text, path);
  // A name that is not UTF-8 would not come back from the store unchanged, so it is made visible.
  // The result must again be a valid name, because clients send it back.
  std::string name = base::ToVisible(text);
  if (errors.empty()) rules::RequireFieldManager(errors, name, path);
  return name;
}

/// Parses the options that all writes have in common.
WriteOptions TakeWriteOptions(const Query& query, rules::FieldErrors& errors) {
  WriteOptions options{.field_manager = TakeManager(query.Get("fieldManager"), errors)};
  codec::Array dry_run;
  for (const std::string_view value : query.All("dryRun")) dry_run.emplace_back(value);
  options.dry_run = TakeDryRun(dry_run, errors);
  const std::string_view validation = query.Get("fieldValidation");
  if (validation == "Strict") {
    options.validation = FieldValidation::kStrict;
  } else if (validation == "Ignore") {
    options.validation = FieldValidation::kIgnore;
  } else if (!validation.empty() && validation != "Warn") {
    errors.NotSupported(rules::Path("fieldValidation"), validation,
                        {"", "Ignore", "Strict", "Warn"});
  }
  return options;
}

}  // namespace

base::Result<int64_t> ParseInt(std::string_view text) {
  int64_t value = 0;
  const bool plus = text.starts_with('+') && !text.starts_with("+-");
  const auto [end, error] =
      std::from_chars(text.data() + (plus ? 1 : 0), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    return base::Fail(
        base::Reason::kBadRequest,
        fmt::format("strconv.ParseInt: parsing {}: value out of range", base::GoQuoted(text)));
  }
  if (error != std::errc() || end != text.data() + text.size()) {
    return base::Fail(
        base::Reason::kBadRequest,
        fmt::format("strconv.ParseInt: parsing {}: invalid syntax", base::GoQuoted(text)));
  }
  return value;
}

base::Error InvalidOptions(std::string_view kind, const rules::FieldErrors& errors) {
  base::Error error = errors.ToError(fmt::format("{}.meta.k8s.io", kind), "");
  error.details = base::Details{.group = "meta.k8s.io", .kind = std::string(kind)};
  return error;
}

base::Error InvalidOption(std::string_view kind, std::string_view field, std::string_view reason,
                          std::string_view message) {
  return {.reason = base::Reason::kInvalid,
          .message = fmt::format("{}.meta.k8s.io \"\" is invalid: {}: {}", kind, field, message),
          .causes = {{.reason = std::string(reason),
                      .message = std::string(message),
                      .field = std::string(field)}},
          .details = base::Details{.group = "meta.k8s.io", .kind = std::string(kind)}};
}

base::Result<ListOptions> ParseListOptions(const Query& query) {
  ListOptions options;
  options.label_selector = query.Get("labelSelector");
  options.field_selector = query.Get("fieldSelector");
  options.watch = query.Flag("watch");
  options.bookmarks = query.Flag("allowWatchBookmarks");
  options.continue_token = query.Get("continue");
  if (query.Find("sendInitialEvents") != nullptr) {
    options.send_initial_events = query.Flag("sendInitialEvents");
  }
  for (const std::string_view name : {"limit", "timeoutSeconds"}) {
    const std::string* text = query.Find(name);
    if (text == nullptr) continue;
    const auto number = ParseInt(*text);
    if (!number) return tl::unexpected(number.error());
    if (name == "limit") {
      options.limit = *number > 0 ? *number : 0;
    } else if (*number > 0) {
      options.timeout = std::chrono::seconds(std::min<int64_t>(*number, 86'400));
    }
  }
  const std::string_view match = query.Get("resourceVersionMatch");
  const std::string_view version = query.Get("resourceVersion");
  if (auto error = CheckMatch(options, match, version)) return tl::unexpected(*std::move(error));
  options.match = match == "Exact"          ? VersionMatch::kExact
                  : match == "NotOlderThan" ? VersionMatch::kNotOlderThan
                                            : VersionMatch::kUnset;
  if (version.empty()) return options;
  const auto parsed = ParseVersion(version);
  if (!parsed) {
    if (options.watch) return tl::unexpected(parsed.error());
    return base::Fail(base::Reason::kBadRequest,
                      "invalid resource version: " + parsed.error().message);
  }
  options.version = *parsed;
  if (!options.continue_token.empty() && *parsed != 0 && !options.watch) {
    return base::Fail(base::Reason::kBadRequest,
                      "specifying resource version is not allowed when using continue");
  }
  return options;
}

base::Result<std::optional<int64_t>> ParseGetVersion(const Query& query) {
  const std::string_view text = query.Get("resourceVersion");
  if (text.empty()) return std::optional<int64_t>();
  const auto version = ParseVersion(text);
  if (!version) return tl::unexpected(version.error());
  return std::optional<int64_t>(*version);
}

bool TakeDryRun(const codec::Array& values, rules::FieldErrors& errors) {
  const bool known = std::all_of(values.begin(), values.end(), [](const codec::Value& value) {
    return codec::Text(&value) == "All";
  });
  if (!known) errors.NotSupported(rules::Path("dryRun"), values, {"All"});
  return !values.empty();
}

base::Result<WriteOptions> ParseWriteOptions(const Query& query, std::string_view kind) {
  rules::FieldErrors errors;
  WriteOptions options = TakeWriteOptions(query, errors);
  if (!errors.empty()) return tl::unexpected(InvalidOptions(kind, errors));
  return options;
}

base::Result<WriteOptions> ParsePatchOptions(const Query& query, bool applies) {
  rules::FieldErrors errors;
  if (!applies && query.Find("force") != nullptr) {
    errors.Forbidden(rules::Path("force"), "may not be specified for non-apply patch");
  }
  if (applies && query.Get("fieldManager").empty()) {
    errors.Required(rules::Path("fieldManager"), "is required for apply patch");
  }
  WriteOptions options = TakeWriteOptions(query, errors);
  options.force = query.Flag("force");
  if (!errors.empty()) return tl::unexpected(InvalidOptions("PatchOptions", errors));
  return options;
}

base::Result<std::optional<std::chrono::milliseconds>> ParseTimeout(const Query& query) {
  constexpr double kLongest = 60'000;
  const std::string_view text = query.Get("timeout");
  if (text.empty()) return std::optional<std::chrono::milliseconds>();
  const auto milliseconds = GoDuration(text);
  if (!milliseconds) {
    return base::Fail(
        base::Reason::kBadRequest,
        fmt::format("invalid timeout specified in the request URL - {}", milliseconds.error()));
  }
  if (*milliseconds <= 0 || *milliseconds > kLongest) {
    return std::optional<std::chrono::milliseconds>();
  }
  return std::optional(std::chrono::milliseconds(static_cast<int64_t>(*milliseconds)));
}

std::string WriteContinueToken(const ContinueToken& token) {
  return base::Base64Url(codec::WriteJson(
      codec::Object{{"v", kTokenVersion}, {"rv", token.version}, {"start", token.after}}));
}

base::Result<ContinueToken> ReadContinueToken(std::string_view text) {
  const auto bytes = base::FromBase64Url(text);
  if (!bytes) return BadToken(fmt::format("illegal base64 data at input byte {}", bytes.error()));
  if (bytes->empty()) return BadToken("unexpected end of JSON input");
  if (bytes->front() != '{') {
    // Go shows the byte as the character with that number.
    const auto byte = static_cast<uint8_t>(bytes->front());
    const std::string shown = byte < 0x20 || byte >= 0x7f ? fmt::format("\\u{:04x}", byte)
                                                          : std::string(1, bytes->front());
    return BadToken(fmt::format("invalid character '{}' looking for beginning of value", shown));
  }
  const auto json = codec::ParseJson(*bytes);
  if (!json) return BadToken(json.error().message);
  const codec::Value* version = json->Find("rv");
  const codec::Value* start = json->Find("start");
  const codec::Value* format = json->Find("v");
  if (format == nullptr || format->AsString() == nullptr || *format->AsString() != kTokenVersion) {
    return base::Fail(base::Reason::kBadRequest,
                      "invalid continue token: server does not recognize this encoded version");
  }
  if (version == nullptr || !version->AsInt() || *version->AsInt() < -1 || *version->AsInt() == 0) {
    return base::Fail(base::Reason::kBadRequest,
                      "invalid continue token: incorrect encoded start resourceVersion (version "
                      "meta.k8s.io/v1)");
  }
  if (start == nullptr || start->AsString() == nullptr || start->AsString()->empty()) {
    return base::Fail(base::Reason::kBadRequest,
                      "invalid continue token: encoded start key empty (version meta.k8s.io/v1)");
  }
  return ContinueToken{.version = *version->AsInt(), .after = *start->AsString()};
}

}  // namespace berth::server
