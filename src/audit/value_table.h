// The values of one pool that Services hold, records name and bitmaps have, in little memory. They
// are added in any order and then compared value by value. The values are split into many parts, so
// that sorting one part is quick and a caller can make pauses in between.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "audit/service_table.h"
#include "base/uint128.h"

namespace berth::audit {

/// What a pass keeps of a record. `more` is the place of what most records do not have.
struct KeptRecord {
  static constexpr uint32_t kNothingMore = ~uint32_t{0};

  int64_t revision = 0;
  ServiceTable::Id service = ServiceTable::kNone;
  uint32_t range = 0;
  uint32_t more = kNothingMore;
};

/// Everything that is known about one value.
struct ValueView {
  base::U128 value = 0;
  std::vector<ServiceTable::Id> holders = {};
  std::optional<KeptRecord> record = {};
  bool bit = false;
};

/// A value of 128 bits without the alignment of base::U128, which would cost memory.
struct WideValue {
  uint64_t high = 0;
  uint64_t low = 0;

  auto operator<=>(const WideValue&) const = default;
};

inline base::U128 ToU128(uint32_t value) { return value; }
inline base::U128 ToU128(const WideValue& value) { return base::MakeU128(value.high, value.low); }
inline void FromU128(base::U128 value, uint32_t& out) { out = static_cast<uint32_t>(value); }
inline void FromU128(base::U128 value, WideValue& out) {
  out = {.high = base::High64(value), .low = base::Low64(value)};
}

/// `V` is uint32_t for IPv4 addresses and ports, and WideValue for IPv6 addresses.
template <typename V>
class ValueTable {
 public:
  void AddHolder(base::U128 value, ServiceTable::Id service) {
    Part& part = PartOf(value);
    part.holds.push_back({.value = Narrow(value), .service = service});
  }
  void AddRecord(base::U128 value, const KeptRecord& record) {
    PartOf(value).records.push_back({.value = Narrow(value),
                                     .service = record.service,
                                     .revision = record.revision,
                                     .range = record.range,
                                     .more = record.more});
  }
  void AddBit(base::U128 value) { PartOf(value).bits.push_back(Narrow(value)); }

  /// Calls `visit` for each value, once, and `pause` now and then. Nothing may be added afterwards.
  void Walk(const std::function<void(const ValueView&)>& visit,
            const std::function<void()>& pause) {
    ValueView view;
    for (Part& part : parts_) {
      part.Sort();
      for (Place at = part.Begin(); part.Read(at, view);) visit(view);
      pause();
    }
  }

  /// Returns what is known about a value. Walk must have been called.
  ValueView Find(base::U128 value) const {
    const Part& part = parts_[value % kParts];
    Place at = part.LowerBound(Narrow(value));
    ValueView view;
    if (part.Read(at, view) && view.value == value) return view;
    return {.value = value};
  }

 private:
  static constexpr size_t kParts = 64;

  struct Hold {
    V value = {};
    ServiceTable::Id service = 0;

    auto operator<=>(const Hold&) const = default;
  };
  struct Record {
    V value = {};
    ServiceTable::Id service = 0;
    int64_t revision = 0;
    uint32_t range = 0;
    uint32_t more = 0;
  };
  struct Place {
    size_t hold = 0;
    size_t record = 0;
    size_t bit = 0;
  };

  struct Part {
    std::deque<Hold> holds;
    std::deque<Record> records;
    std::deque<V> bits;

    void Sort() {
      std::ranges::sort(holds);
      std::ranges::stable_sort(records, {}, &Record::value);
      std::ranges::sort(bits);
    }
    Place Begin() const { return {}; }
    Place LowerBound(const V& value) const {
      return {.hold = static_cast<size_t>(std::ranges::lower_bound(holds, value, {}, &Hold::value) -
                                          holds.begin()),
              .record = static_cast<size_t>(
                  std::ranges::lower_bound(records, value, {}, &Record::value) - records.begin()),
              .bit = static_cast<size_t>(std::ranges::lower_bound(bits, value) - bits.begin())};
    }
    /// Reads the first value at or after a place, and moves the place after it. Returns false at
    /// the end.
    bool Read(Place& at, ValueView& view) const {
      std::optional<V> first;
      const auto consider = [&first](const V& value) {
        if (!first || value < *first) first = value;
      };
      if (at.hold < holds.size()) consider(holds[at.hold].value);
      if (at.record < records.size()) consider(records[at.record].value);
      if (at.bit < bits.size()) consider(bits[at.bit]);
      if (!first) return false;
      view.value = ToU128(*first);
      view.holders.clear();
      for (; at.hold < holds.size() && holds[at.hold].value == *first; ++at.hold) {
        const ServiceTable::Id service = holds[at.hold].service;
        if (view.holders.empty() || view.holders.back() != service) view.holders.push_back(service);
      }
      view.record.reset();
      for (; at.record < records.size() && records[at.record].value == *first; ++at.record) {
        const Record& record = records[at.record];
        if (view.record) continue;  // A value has one record; its name is the value.
        view.record = KeptRecord{.revision = record.revision,
                                 .service = record.service,
                                 .range = record.range,
                                 .more = record.more};
      }
      view.bit = false;
      for (; at.bit < bits.size() && bits[at.bit] == *first; ++at.bit) view.bit = true;
      return true;
    }
  };

  static V Narrow(base::U128 value) {
    V narrow = {};
    FromU128(value, narrow);
    return narrow;
  }
  Part& PartOf(base::U128 value) { return parts_[value % kParts]; }

  std::array<Part, kParts> parts_ = {};
};

}  // namespace berth::audit
