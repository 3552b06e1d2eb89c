#include "allocation/range_references.h"

#include <optional>

#include "alloc/pool_id.h"
#include "allocation/ledger/ledger_view.h"
#include "rules/record_notes.h"

namespace berth::allocation {
namespace {

std::string NoteOf(const alloc::RangeRow& row) {
  return row.kind == alloc::RangeKind::kServiceCidr
             ? std::string(rules::kServiceCidrNote) + row.name
             : row.name;
}

}  // namespace

RangeDirectory::RangeDirectory(const alloc::RangeTable& table) {
  for (const PoolId id : kAllPools) {
    std::vector<std::optional<alloc::Interval>> spans;
    for (const alloc::RangeRow& row : table.rows[id]) {
      spans.push_back(row.layout.span());
      pools_[id].notes.push_back(NoteOf(row));
    }
    pools_[id].segments = alloc::Segments(spans);
  }
}

std::string_view RangeDirectory::ReferenceFor(const PoolValue& value,
                                              std::string_view noted) const {
  const Pool& pool = pools_[value.pool];
  const auto places = pool.segments.Of(value.value);
  if (places.empty()) return {};
  for (const uint32_t place : places) {
    if (pool.notes[place] == noted) return noted;
  }
  return pool.notes[places.front()];
}

std::shared_ptr<const RangeDirectory> RangeReferences::Current() const {
  const uint64_t made = LedgerView(ledger_).TablesMade();
  base::MutexLock lock(mutex_);
  if (directory_ == nullptr || made_of_ != made) {
    directory_ = std::make_shared<const RangeDirectory>(LedgerView(ledger_).StoredTable());
    made_of_ = made;
  }
  return directory_;
}

}  // namespace berth::allocation
