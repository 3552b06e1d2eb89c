#include "allocation/ledger/record_reader.h"

namespace berth::allocation {

bool ReadChange(const RecordReader& reader, const state::Change& change, LedgerChanges& changes) {
  if (reader.service && reader.service(change, changes.holdings)) return true;
  const state::Object& object = *change.Last();
  if (auto info = reader.record(object)) {
    changes.records.push_back(
        {.info = *std::move(info), .revision = state::RevisionOf(change.object)});
  } else if (auto facts = reader.facts(object)) {
    if (!change.object) facts.reset();
    changes.ranges.push_back({.key = object.Key(), .facts = std::move(facts)});
  } else if (auto fence = reader.closing(object)) {
    if (!change.object) fence->second.reset();
    changes.fences.push_back({.pool = fence->first,
                              .revision = state::RevisionOf(change.object),
                              .notified = change.revision,
                              .closing = std::move(fence->second)});
  } else {
    return false;
  }
  return true;
}

}  // namespace berth::allocation
