// Answers who has a value: its owners, its state, its neighbours, and whether it is safe to
// hard-code. Answers too what a Service, a namespace or a range has. Pure.
//
// Answers point into the census and the cluster, which must outlive them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alloc/layout.h"
#include "alloc/pool_id.h"
#include "base/clock.h"
#include "base/uint128.h"
#include "inspect/census.h"
#include "inspect/question.h"

namespace berth::inspect {

/// The state of a value in the cluster as a whole.
enum class Standing : uint8_t {
  kFree,
  kTaken,
  kReserved,  ///< A record keeps it, for one Service or from all.
  kCooling,   ///< Picks avoid it for a while. A request may name it.
  kExcluded,  ///< Every range that contains it excludes it.
  kUnusable,  ///< The network or broadcast address of its range, and so on.
  kOutside,   ///< No range contains it.
  kUnknown,   ///< No Service has it, and the ranges or all Services are not known.
};
std::string_view NameOf(Standing standing);

/// One range that contains the value.
struct Place {
  RangeRef range = {};
  std::optional<alloc::Band> band = {};  ///< Nullopt if the value is not usable there.
  bool excluded = false;
  std::string_view why_unusable = {};  ///< Empty if it is usable.
};

/// Whether the record of a value and the Services agree.
enum class RecordCheck : uint8_t {
  kAgrees,
  kNotShown,    ///< The source shows no records of such values.
  kNoRecord,    ///< A Service has the value, but nothing records it.
  kOrphan,      ///< A record says that a Service has the value, but none has it.
  kOtherOwner,  ///< The record names another Service than the one that has the value.
};
std::string_view NameOf(RecordCheck check);

/// Whether a value may be put into a manifest.
enum class Verdict : uint8_t {
  kSafe,         ///< It is in the static band, and picks have other values.
  kMayBePicked,  ///< It is in the dynamic band, so any Service may get it.
  kSpill,        ///< It is in the static band, but the dynamic band is full.
  kNotNow,       ///< It is taken, reserved, excluded, unusable, outside, or in a closed range.
  kUnknown,      ///< The range or its bands are only assumed.
};
std::string_view NameOf(Verdict verdict);

struct Advice {
  Verdict verdict = Verdict::kNotNow;
  /// The number of free values that the next dynamic pick chooses from, if it may choose this one.
  /// So its chance to get this one is 1 in that number.
  std::optional<base::U128> one_in = {};
  bool closed = false;                     ///< All ranges that have the value take no new Services.
  std::vector<base::U128> safe_near = {};  ///< Free values that are safe, the nearest first.
};

/// When something happened: at `latest` or before, but not before `earliest`. Nullopt means that
/// nothing is known about the time before.
struct Bounds {
  base::WallTime latest = {};
  std::optional<base::WallTime> earliest = {};
};

/// A time in which a value had an owner.
struct HeldSpan {
  Bounds from = {};
  std::optional<Bounds> to = {};  ///< Nullopt means until the last look.
  std::string owner = {};         ///< "namespace/name".
};

/// What an observer's history tells about a value.
struct ValuePast {
  std::vector<HeldSpan> spans = {};          ///< The newest first.
  std::optional<base::WallTime> begin = {};  ///< When the history begins; nullopt if it is empty.
  std::optional<base::WallTime> end = {};    ///< The last look.
  size_t gaps = 0;                           ///< Times in which no observer looked.
};
/// Unset if there is no history.
using History = std::function<ValuePast(const alloc::PoolValue& value)>;

struct ValueAnswer {
  alloc::PoolValue value = {};
  Standing standing = Standing::kOutside;
  std::vector<Use> owners = {};  ///< More than one is a fault of the cluster.
  const Record* record = nullptr;
  bool unseen = false;  ///< A Service that the user may not see may have it.
  RecordCheck check = RecordCheck::kAgrees;
  std::optional<base::WallTime> since = {};
  bool since_of_record = false;    ///< `since` is the record's, not the Service's creation.
  std::vector<Place> places = {};  ///< The smallest range first.
  const Use* below = nullptr;      ///< The nearest values of the pool that Services have.
  const Use* above = nullptr;
  Advice advice = {};
  std::optional<ValuePast> history = {};  ///< Nullopt if nothing remembers it.
};

struct NamespaceAnswer {
  std::string name = {};
  std::vector<const Service*> services = {};
  struct PoolCount {
    uint64_t values = 0;
    uint64_t named = 0;
    uint64_t drawn = 0;
  };
  alloc::PerPool<PoolCount> counts = {};
  uint64_t reserved = 0;  ///< Records that keep a value for a Service of the namespace.
};

struct WhoisAnswer {
  std::string asked = {};
  std::optional<ValueAnswer> value = {};
  std::vector<const Service*> services = {};
  std::optional<NamespaceAnswer> name_space = {};
  std::vector<RangeRef> ranges = {};
  std::vector<std::string> similar = {};  ///< Names that contain the one that was not found.

  bool Found() const { return value || !services.empty() || name_space || !ranges.empty(); }
};

/// Returns what is cheap to know about a value: everything but neighbours, advice and history.
ValueAnswer LookUp(const Census& census, const alloc::PoolValue& value);

ValueAnswer AskValue(const Census& census, const alloc::PoolValue& value,
                     const History& history = {});

WhoisAnswer Ask(const Census& census, const Question& question, const History& history = {});

}  // namespace berth::inspect
