// Reads which addresses and node ports are in use, from a plain list or from the output of
// `kubectl get svc -A -o json`.
//
// A pure function, safe from any thread. An Error is one sentence without a full stop that names
// the line of a list, or the Service and the field. The caller adds the name of the file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "berth/plan/value_kind.h"

namespace berth::cli {

/// The maximum size of a text for ReadUsed, and the maximum number of its values. This is many
/// times what a cluster with 100,000 Services exports, and little enough to keep in memory.
inline constexpr size_t kMaxUsedBytes = size_t{256} * 1024 * 1024;
inline constexpr size_t kMaxUses = 2'000'000;

enum class UsedFormat : uint8_t { kList, kServices };

/// One value of one Service, or of one line of a list.
struct Use {
  ValueKind kind = ValueKind::kIpv4;
  U128 value = 0;
  std::string owner = {};  ///< "namespace/name", or the rest of the line; may be empty
  size_t line = 0;         ///< counted from 1; 0 if the text is not a list

  bool operator==(const Use&) const = default;
};

struct Used {
  UsedFormat format = UsedFormat::kList;
  size_t services = 0;       ///< all Services, with or without values
  size_t other_objects = 0;  ///< objects that are not Services; they are ignored
  std::vector<Use> uses = {};
};

/// Reads the values in use. Each value of a Service counts once, even if several ports share it.
base::Result<Used> ReadUsed(std::string_view text);

}  // namespace berth::cli
