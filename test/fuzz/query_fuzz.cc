// Parses a query of arbitrary bytes. A parsed query can be written as a query that parses to the
// same. A refusal has a reason. Options stay within the limits of the server.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "server/options.h"
#include "server/query.h"

namespace {

using berth::base::Reason;
using berth::server::Query;
using berth::server::VersionMatch;

constexpr std::array<std::string_view, 14> kNames = {"labelSelector",
                                                     "fieldSelector",
                                                     "watch",
                                                     "allowWatchBookmarks",
                                                     "continue",
                                                     "sendInitialEvents",
                                                     "limit",
                                                     "timeoutSeconds",
                                                     "resourceVersionMatch",
                                                     "resourceVersion",
                                                     "dryRun",
                                                     "fieldValidation",
                                                     "fieldManager",
                                                     "timeout"};

std::string Escaped(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    out.push_back('%');
    out.push_back(kDigits[static_cast<uint8_t>(c) >> 4]);
    out.push_back(kDigits[static_cast<uint8_t>(c) & 15]);
  }
  return out;
}

/// Returns everything that the server reads from a query, with every byte escaped.
std::string Rewritten(const Query& query) {
  std::string text;
  for (const std::string_view name : kNames) {
    for (const std::string_view value : query.All(name)) {
      text += Escaped(name) + "=" + Escaped(value) + "&";
    }
  }
  return text;
}

void RequireReason(const berth::base::Error& error) {
  fuzz::Require(!error.message.empty());
  fuzz::Require(error.reason == Reason::kBadRequest || error.reason == Reason::kInvalid ||
                error.reason == Reason::kUnknown);
}

void CheckList(const Query& query, const Query& again) {
  const auto options = ParseListOptions(query);
  const auto same = ParseListOptions(again);
  fuzz::Require(options.has_value() == same.has_value());
  if (!options) {
    RequireReason(options.error());
    fuzz::Require(options.error().message == same.error().message);
    return;
  }
  fuzz::Require(options->limit >= 0 && options->version.value_or(0) >= 0);
  fuzz::Require(!options->timeout ||
                (options->timeout->count() > 0 && *options->timeout <= std::chrono::hours(24)));
  fuzz::Require(options->match == VersionMatch::kUnset || options->version.has_value() ||
                options->watch);
  fuzz::Require(options->watch || !options->send_initial_events);
  fuzz::Require(options->label_selector == same->label_selector &&
                options->field_selector == same->field_selector &&
                options->continue_token == same->continue_token && options->watch == same->watch &&
                options->bookmarks == same->bookmarks && options->limit == same->limit &&
                options->send_initial_events == same->send_initial_events &&
                options->version == same->version && options->match == same->match &&
                options->timeout == same->timeout);
}

void CheckWrite(const Query& query, const Query& again) {
  const auto options = ParseWriteOptions(query, "CreateOptions");
  const auto same = ParseWriteOptions(again, "CreateOptions");
  fuzz::Require(options.has_value() == same.has_value());
  if (!options) return RequireReason(options.error());
  fuzz::Require(options->field_manager.size() <= 128);
  fuzz::Require(options->dry_run == same->dry_run && options->validation == same->validation &&
                options->field_manager == same->field_manager);
}

void CheckTimeout(const Query& query) {
  const auto timeout = ParseTimeout(query);
  if (!timeout) return RequireReason(timeout.error());
  fuzz::Require(!*timeout || (**timeout >= std::chrono::milliseconds(0) &&
                              **timeout <= std::chrono::minutes(1)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Query query(text);
  const Query again(Rewritten(query));
  for (const std::string_view name : kNames) {
    fuzz::Require(query.All(name) == again.All(name));
    fuzz::Require(query.Flag(name) == again.Flag(name));
    fuzz::Require(query.All(name).size() <= Query::kMaxParameters);
  }
  CheckList(query, again);
  CheckWrite(query, again);
  CheckTimeout(query);
  if (const auto version = ParseGetVersion(query); !version) RequireReason(version.error());
  fuzz::Require(berth::server::PercentDecode(Escaped(text), true) == text);
  return 0;
}
