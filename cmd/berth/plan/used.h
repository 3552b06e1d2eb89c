// Reads which addresses and node ports are in use: from a plain list, or from the output of
// `kubectl get svc -A -o json`.
//
// A pure function, safe from any thread. An Error is one sentence without a full stop that names
// the line of a list, or the Service and the field; the caller adds which file it is about.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "berth/plan/value_kind.h"

namespace berth::cli {

/// The longest text ReadUsed takes, and the most values: many times what a cluster of 100,000
/// Services exports, and little enough to hold in memory.
inline constexpr size_t kMaxUsedBytes = size_t{256} * 1024 * 1024;
inline constexpr size_t kMaxUses = 2'000'000;

enum class UsedFormat : uint8_t { kList, kServices };

/// One value that one Service, or one line of a list, holds.
struct Use {
  ValueKind kind = ValueKind::kIpv4;
  U128 value = 0;
  std::string owner = {};  ///< "namespace/name", or what the line says; may be empty
  size_t line = 0;         ///< counted from 1; 0 when the text is not a list

  bool operator==(const Use&) const = default;
};

struct Used {
  UsedFormat format = UsedFormat::kList;
  size_t services = 0;       ///< how many there were, with or without values
  size_t other_objects = 0;  ///< objects beside them that are no Services; they are ignored
  std::vector<Use> uses = {};
};

/// Of a Service each value counts once, however many of its ports share the number.
base::Result<Used> ReadUsed(std::string_view text);

}  // namespace berth::cli
