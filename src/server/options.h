// The options in the query of a request: list, watch, write and delete options, checked as
// Kubernetes checks them and with its messages. Pure.
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
  std::optional<int64_t> version = {};  // If the client gave one.
  VersionMatch match = VersionMatch::kUnset;
  int64_t limit = 0;  // 0 means no limit.
  std::string continue_token = {};
  std::optional<std::chrono::seconds> timeout = {};
};
/// Parses the options of a list, a watch or a deletecollection.
base::Result<ListOptions> ParseListOptions(const Query& query);

/// Returns the resourceVersion of a GET of one object, or nullopt for the newest.
base::Result<std::optional<int64_t>> ParseGetVersion(const Query& query);

struct WriteOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::kWarn;
  std::string field_manager = {};
  bool force = false;  // For an apply.
};
/// Parses the options of a write. `kind` is "CreateOptions" or "UpdateOptions", for the messages.
base::Result<WriteOptions> ParseWriteOptions(const Query& query, std::string_view kind);
base::Result<WriteOptions> ParsePatchOptions(const Query& query, bool applies);

/// Parses `timeout`, a Go duration. Returns nullopt if the server's own timeout applies: the
/// parameter is not given, not positive, or longer than 60 s.
base::Result<std::optional<std::chrono::milliseconds>> ParseTimeout(const Query& query);

/// Where the next page of a list begins: it is read at `version`, after the key `after`.
struct ContinueToken {
  int64_t version = 0;  // -1 means the current one, for a client whose version has expired.
  std::string after = {};
};
std::string WriteContinueToken(const ContinueToken& token);
base::Result<ContinueToken> ReadContinueToken(std::string_view text);

/// Parses a number as Go does. The error is kBadRequest with Go's message.
base::Result<int64_t> ParseInt(std::string_view text);

/// Returns an Invalid error about one option: `ListOptions.meta.k8s.io "" is invalid: ...`.
base::Error InvalidOption(std::string_view kind, std::string_view field, std::string_view reason,
                          std::string_view message);
/// Returns an Invalid error about several options.
base::Error InvalidOptions(std::string_view kind, const rules::FieldErrors& errors);

/// Returns whether `dryRun` asks that nothing is written.
bool TakeDryRun(const codec::Array& values, rules::FieldErrors& errors);

}  // namespace berth::server
