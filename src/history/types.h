// The words of the history: who held which value, from when to when, and what is not known. Plain
// types.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "alloc/pool_id.h"
#include "base/clock.h"
#include "inspect/cluster.h"

namespace berth::history {

/// A Service. Two Services of one name, one after the other, have different uids.
struct Owner {
  std::string name_space = {};
  std::string name = {};
  std::string uid = {};

  bool operator==(const Owner&) const = default;
};

/// What a Service does with a value.
enum class Purpose : uint8_t { kAddress, kNodePort, kHealthCheck };

struct Held {
  alloc::PoolValue value = {};
  inspect::Origin origin = inspect::Origin::kUnknown;
  Purpose purpose = Purpose::kAddress;

  bool operator==(const Held&) const = default;
};

/// A Service as a list or an event shows it.
struct ServiceState {
  Owner owner = {};
  int64_t revision = 0;
  std::optional<base::WallTime> created = {};
  std::vector<Held> holds = {};  ///< Each value once.
};

/// When something happened: not later than `latest`, and not before `earliest`. The two are equal
/// if the moment was seen. `earliest` is nullopt if nothing is known about the time before.
struct Moment {
  base::WallTime latest = {};
  std::optional<base::WallTime> earliest = {};

  bool IsExact() const { return earliest == latest; }
  bool operator==(const Moment&) const = default;
};

/// A time in which one Service held one value. It has no end if the Service held the value when it
/// was last looked at.
struct Span {
  Held held = {};
  Owner owner = {};
  Moment from = {};
  std::optional<Moment> to = {};

  bool operator==(const Span&) const = default;
};

/// A time in which no observer looked, or whose records are lost. Values may have changed hands
/// unseen.
struct Gap {
  base::WallTime from = {};
  base::WallTime to = {};
  std::string why = {};  ///< "the observer did not follow the cluster", a clause.

  bool operator==(const Gap&) const = default;
};

/// How full a range was at one moment.
struct RangeCount {
  std::string range = {};  ///< As text: "10.96.0.0/16", "30000-32767".
  base::U128 taken = 0;
  base::U128 withheld = 0;  ///< Reserved and cooling values.
  base::U128 usable = 0;    ///< All values that the range can give out.

  bool operator==(const RangeCount&) const = default;
};

}  // namespace berth::history
