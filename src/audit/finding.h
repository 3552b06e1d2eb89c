// What a pass of the auditor finds: kinds of findings, and one finding with everything that a
// person or a repair needs to know about it. Plain types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/pool_id.h"

namespace berth::audit {

enum class FindingKind : uint8_t {
  kTwoOwners,          // Two Services hold one value.
  kNoRecord,           // A Service holds a value that has no record, or whose bit is not set.
  kOrphan,             // A record or a bit says that a Service has the value, but none has it.
  kWrongUid,           // The record was made for another Service of the same name.
  kWrongOwner,         // The record names another Service than the one that has the value.
  kWrongFamily,        // The record's family is not that of its address.
  kWrongPurpose,       // The record of a port says that the Service uses it in another way.
  kOutOfRange,         // A Service holds a value that no range contains.
  kUnusable,           // A Service holds the network or broadcast address of a range.
  kLostReservation,    // No Service can ever redeem the reservation.
  kUnknownRange,       // A record refers to a range that does not exist.
  kRangeWithoutValue,  // A record refers to a range that does not contain the value.
  kWrongCount,         // The status of a range has other counts than its values.
  kTwoPrimaries,       // Two ranges are primary.
  kUndecodable,        // A stored value cannot be decoded.
};
inline constexpr size_t kFindingKinds = 15;

/// Returns the name of a kind in metrics and documents, such as "TwoOwners".
std::string_view NameOf(FindingKind kind);
/// Returns what a kind means, in a few words: "two Services have the same address or port".
std::string_view MeaningOf(FindingKind kind);

/// An object that a finding is about.
struct ObjectRef {
  std::string resource = {};  // "services", "ipaddresses", "nodeports", "ipranges", ...
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};  // Of Services only. A pass does not keep the uids of other objects.
  int64_t revision = 0;  // 0 if the source does not know it.

  bool operator==(const ObjectRef&) const = default;
};
/// Returns "Service shop/web", "IPAddress 10.96.0.10" and so on.
std::string TextOf(const ObjectRef& object);

struct Finding {
  FindingKind kind = FindingKind::kTwoOwners;
  std::optional<alloc::PoolValue> value = {};
  /// The Services that hold the value, in the order of their names; eight at most. `owner_count`
  /// counts all of them.
  std::vector<ObjectRef> owners = {};
  size_t owner_count = 0;
  /// The record, range or other object that is wrong, if there is one.
  std::optional<ObjectRef> object = {};
  std::string key = {};      // The store's key of an object that cannot be decoded.
  std::string message = {};  // What is wrong, in one sentence, with all names.
  std::string advice = {};   // What a person should do, in one sentence.
  /// A state that may pass by itself within seconds while a server runs, such as a count that was
  /// not written yet. A single pass must not take it for a fault.
  bool may_settle = false;
};

/// What a pass has looked at.
struct Checked {
  uint64_t services = 0;
  uint64_t values = 0;  // Addresses and ports that Services hold.
  uint64_t records = 0;
  uint64_t bits = 0;
  uint64_t ranges = 0;
  uint64_t undecodable = 0;
};

struct Report {
  int64_t revision = 0;
  Checked checked = {};
  /// Ordered by kind and value. At most `kMaxFindings` of each kind are kept; `counts` has all.
  std::vector<Finding> findings = {};
  std::array<uint64_t, kFindingKinds> counts = {};

  bool IsClean() const;
};
inline constexpr size_t kMaxFindings = 1000;

}  // namespace berth::audit
