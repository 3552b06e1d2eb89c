// What the query of a request asks for: list, watch, write and delete options, checked as upstream
// checks them and with its messages. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/decode.h"
#include "codec/value.h"
#include "rules/field_error.h"
#include "server/query.h"

namespace berth::server {

enum class VersionMatch : uint8_t { kUnset, kNotOlderThan, kExact };
using codec::FieldValidation;

struct ListOptions {
  std::string label_selector = {};
  std::string field_selector = {};
  bool watch = false;
  bool bookmarks = false;
  std::optional<bool> send_initial_events = {};
  std::optional<int64_t> version = {};  // Nothing when none was given.
  VersionMatch match = VersionMatch::kUnset;
  int64_t limit = 0;  // 0: all.
  std::string continue_token = {};
  std::optional<std::chrono::seconds> timeout = {};
};
/// Of a list, a watch or a deletecollection.
base::Result<ListOptions> ParseListOptions(const Query& query);

/// The resourceVersion of a GET of one object; nothing: the newest.
base::Result<std::optional<int64_t>> ParseGetVersion(const Query& query);

struct WriteOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  std::string field_manager = {};
  bool force = false;  // Of an apply.
};
/// `kind` is CreateOptions or UpdateOptions, for the messages.
base::Result<WriteOptions> ParseWriteOptions(const Query& query, std::string_view kind);
base::Result<WriteOptions> ParsePatchOptions(const Query& query, bool applies);

/// `timeout`, a Go duration; nothing when there is none or it is to be the server's own.
base::Result<std::optional<std::chrono::milliseconds>> ParseTimeout(const Query& query);

/// Where the next page begins: everything of a page is read at `version`, behind the key `after`.
struct ContinueToken {
  int64_t version = 0;  // -1: at whatever is current, for a client whose version has expired.
  std::string after = {};
};
std::string WriteContinueToken(const ContinueToken& token);
base::Result<ContinueToken> ReadContinueToken(std::string_view text);

/// A number as Go reads it; kBadRequest in its words.
base::Result<int64_t> ParseInt(std::string_view text);

/// An Invalid error about a query's options: `ListOptions.meta.k8s.io "" is invalid: ...`.
base::Error InvalidOption(std::string_view kind, std::string_view field, std::string_view reason,
                          std::string_view message);
/// The same of all that is wrong.
base::Error InvalidOptions(std::string_view kind, const rules::FieldErrors& errors);

/// Whether nothing is to be written.
bool TakeDryRun(const codec::Array& values, rules::FieldErrors& errors);

}  // namespace berth::server
