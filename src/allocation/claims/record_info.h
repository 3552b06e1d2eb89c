// What the record of a value says, as the ledger sees it. Plain types.
#pragma once

#include <cstdint>
#include <string>

#include "alloc/pool_id.h"

namespace berth::allocation {

enum class RecordState : uint8_t {
  kAllocated,  // A Service has the value.
  kReserved,   // No Service may take the value, or only one may.
  kPending,    // The value is held for one Service for a limited time.
  kCooling,    // The value was released a short time ago; picks avoid it.
};

struct RecordInfo {
  alloc::PoolValue value = {};
  RecordState state = RecordState::kAllocated;
  /// "namespace/name" of the Service that the value is reserved or held for. Empty if there is no
  /// such Service. In an allocated record: the value is reserved for it again after its release.
  std::string reserved_for = {};
};

}  // namespace berth::allocation
