// The sentences of findings: what is wrong, with all names, and what a person should do. All words
// that a person reads about a finding are made here. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "audit/facts.h"
#include "audit/finding.h"
#include "audit/port_use_table.h"

namespace berth::audit {

/// How many names a sentence has at most.
inline constexpr size_t kNamesInText = 8;
/// How advice begins that is about a value in no range.
inline constexpr std::string_view kExtendRange = "Add or extend a range that contains it";

/// What the sentences about a record say.
struct RecordWords {
  ObjectRef object = {};
  RecordState state = RecordState::kAllocated;
  std::string service = {};     // "namespace/name" of the Service that the record names, or "".
  bool service_exists = false;  // A Service of that name exists.
  std::string service_uid = {};
  std::string reserved_for = {};
  std::string range = {};
  std::string family = {};
  std::optional<bool> health_check = {};
  std::optional<std::vector<PortUse>> ports = {};
};

/// What the sentences about a value say.
struct ValueWords {
  alloc::PoolValue value = {};
  std::vector<ObjectRef> owners = {};  // In order of names.
  size_t owner_count = 0;
  PortPurpose held = {};  // As one of the owners uses it. For ports only.
  std::optional<RecordWords> record = {};
  bool records_count = true;             // Values of this pool have records.
  std::optional<ObjectRef> bitmap = {};  // Of the value's pool, where bitmaps count.
  std::string bitmap_range = {};
  bool bit = false;
  std::string why_unusable = {};
  std::string why_withheld = {};
  std::string right_range = {};  // The name of a range that contains the value, or "".
};

/// Makes the finding of a kind that is about a value.
Finding ValueFinding(FindingKind kind, const ValueWords& words);

Finding WrongCount(const ObjectRef& range, const RangeCounts& says, const RangeCounts& counted);
/// `ranges` are at least two.
Finding TwoPrimaries(std::span<const ObjectRef* const> ranges);
Finding Undecodable(const std::string& key, const std::string& error);

}  // namespace berth::audit
