// Renders the results of commands on stores. Pure functions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/paint.h"
#include "codec/value.h"
#include "store/copy.h"
#include "store/digest.h"
#include "store/snapshot_file.h"
#include "store/types.h"

namespace berth::cli {

/// Returns "700 bytes", "1.5 KiB" or "2.0 GiB".
std::string ByteText(uint64_t bytes);

/// Returns "0.8 s" or "2 min 03 s".
std::string DurationText(std::chrono::nanoseconds duration);

/// Returns "1 key" or "2,003 keys".
std::string KeysText(uint64_t keys);

/// Labels for the first column, with texts for the second.
using Facts = std::vector<std::pair<std::string_view, std::string>>;
std::string FactsText(const Facts& facts);

/// Returns a table with KIND, KEYS and SIZE, or an empty text if there are no kinds.
std::string KindTable(const std::map<std::string, store::KindCount>& kinds, const Paint& paint);

/// The contents of a snapshot file or a data directory.
struct Status {
  bool snapshot = false;
  std::string path = {};
  std::string source = {};      // Only of a snapshot.
  base::WallTime created = {};  // Only of a snapshot.
  store::Revision revision = {};
  store::Revision compacted = {};  // Only of a directory.
  uint64_t disk_bytes = 0;
  std::optional<std::string> unfinished_copy = {};
  store::StateSummary summary = {};
};

std::string StatusText(const Status& status, const Paint& paint);

/// Returns a document with all keys. A value that does not exist is null.
codec::Value StatusDocument(const Status& status);

/// Reports a migration or a restore that has succeeded.
std::string CopiedText(std::string_view what, const store::Copied& copied,
                       std::chrono::nanoseconds duration, const Paint& paint);

}  // namespace berth::cli
