// How commands on stores show what they found and did. Pure functions.
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
#include "store/snapshot.h"
#include "store/types.h"

namespace berth::cli {

/// "700 bytes", "1.5 KiB", "2.0 GiB".
std::string ByteText(uint64_t bytes);

/// "0.8 s", "2 min 03 s".
std::string DurationText(std::chrono::nanoseconds duration);

/// "1 key", "2,003 keys".
std::string KeysText(uint64_t keys);

/// Labels in one column, what they say in the next.
using Facts = std::vector<std::pair<std::string_view, std::string>>;
std::string FactsText(const Facts& facts);

/// KIND, KEYS, SIZE; nothing when there are none.
std::string KindTable(const std::map<std::string, store::KindCount>& kinds, const Paint& paint);

/// What a snapshot file or a data directory holds; what only one of them has is unset in the other.
struct Status {
  bool snapshot = false;
  std::string path = {};
  std::string source = {};      // Of a snapshot.
  base::WallTime created = {};  // Of a snapshot.
  store::Revision revision = {};
  store::Revision compacted = {};  // Of a directory.
  uint64_t disk_bytes = 0;
  std::optional<std::string> unfinished_copy = {};
  store::StateSummary summary = {};
};

std::string StatusText(const Status& status, const Paint& paint);

/// Every key is always there; what does not exist is null.
codec::Value StatusDocument(const Status& status);

/// Of a migration or a restore that has succeeded.
std::string CopiedText(std::string_view what, const store::Copied& copied,
                       std::chrono::nanoseconds duration, const Paint& paint);

}  // namespace berth::cli
