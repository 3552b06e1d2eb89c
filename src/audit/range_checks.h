// The ranges of a pass: which values they cover and give out, whether a record refers to one that
// contains its value, how many values each has, and what is wrong with the ranges themselves.
//
// Add all ranges, call Prepare, and ask. Threads: one at a time.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alloc/pool_id.h"
#include "alloc/range_table.h"
#include "alloc/segments.h"
#include "alloc/state.h"
#include "audit/facts.h"
#include "audit/findings.h"

namespace berth::audit {

class RangeChecks {
 public:
  RangeChecks() : references_(1) {}

  void Add(const RangeObjectFacts& range);
  /// Returns the number of a text that a record has as the reference to its range. The number of
  /// the empty text is 0.
  uint32_t Reference(const std::string& text);
  const std::string& ReferenceText(uint32_t reference) const { return references_[reference]; }

  /// Makes the lookups. Ranges that are not in force are left out of them.
  void Prepare();

  bool HasRanges(alloc::PoolId pool) const { return !Rows(pool).empty(); }
  /// Returns whether a range contains the value as a usable one.
  bool Covers(const alloc::PoolValue& value) const;
  /// Returns why the value is unusable, as in "it is the network address of the range ...". Empty
  /// if no range contains the value, or if a range can use it.
  std::string WhyUnusable(const alloc::PoolValue& value) const;
  /// Returns whether an open range gives the value out to a request that names it.
  bool GivesOut(const alloc::PoolValue& value) const;
  /// Returns why no range gives the value out.
  std::string WhyWithheld(const alloc::PoolValue& value) const;

  enum class Refers : uint8_t { kFine, kToNoRange, kToAnotherRange };
  Refers CheckReference(uint32_t reference, const alloc::PoolValue& value) const;
  /// Returns the name of the smallest range that contains the value, or "".
  std::string RangeOf(const alloc::PoolValue& value) const;

  /// Counts a value that is taken, reserved or cooling.
  void Count(const alloc::PoolValue& value, alloc::State state);
  /// Adds the findings about counts. All values must have been counted.
  void CheckCounts(Findings& findings) const;
  void CheckPrimaries(Findings& findings) const;

 private:
  struct Pool {
    std::vector<RangeCounts> counted = {};  // For each row.
    std::optional<alloc::Coverage> coverage = {};
    alloc::Segments segments = {};
  };
  using ObjectId = std::pair<alloc::RangeKind, std::string_view>;

  const std::vector<alloc::RangeRow>& Rows(alloc::PoolId pool) const { return table_.rows[pool]; }
  const RangeObjectFacts* Find(alloc::RangeKind kind, std::string_view name) const;
  /// Returns the range that a reference names, or null if no such range exists.
  const RangeObjectFacts* Referred(uint32_t reference, alloc::PoolId pool) const;

  std::vector<RangeObjectFacts> objects_;
  std::map<ObjectId, const RangeObjectFacts*> by_name_;
  alloc::RangeTable table_;  // Of the ranges in force.
  alloc::PerPool<Pool> pools_;
  std::vector<std::string> references_;
  std::map<std::string, uint32_t, std::less<>> reference_numbers_;
};

}  // namespace berth::audit
