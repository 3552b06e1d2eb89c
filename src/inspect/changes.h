// What changed between two views of a cluster, value by value. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"
#include "inspect/used_values.h"

namespace berth::inspect {

enum class ChangeKind : uint8_t {
  kTaken,     ///< A Service has it now, and none had it before.
  kReleased,  ///< A Service had it, and none has it now.
  kChanged,   ///< It has another owner, or a record keeps it or does not keep it any more.
};
/// Returns "taken", "released" or "changed".
std::string_view NameOf(ChangeKind kind);

struct Change {
  alloc::PoolValue value = {};
  ChangeKind kind = ChangeKind::kChanged;
  std::string owner = {};  ///< "shop/web": who has it now or, if no Service does, who had it.
};

struct Changes {
  std::vector<Change> listed = {};  ///< Ordered by pool and value.
  uint64_t more = 0;                ///< Those beyond the most.
};

/// Goes over both views once.
Changes FindChanges(const UsedValues& before, const UsedValues& now, size_t most);

}  // namespace berth::inspect
