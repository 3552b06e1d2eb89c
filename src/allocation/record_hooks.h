// The hooks of the records of addresses and ports: a record that a client creates is a reservation,
// which gets its range and the time when it ends. Clients write records only while the store keeps
// allocations in records. A record is shown with the range that it is in now (range_references.h).
//
// Threads: every function may be called from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/ledger/ledger.h"
#include "allocation/range_references.h"
#include "allocation/records.h"
#include "base/clock.h"
#include "registry/hooks.h"

namespace berth::allocation {

class RecordHooks final : public registry::KindHooks {
 public:
  /// All must outlive it.
  RecordHooks(Ledger& ledger, const RecordRows& rows, const base::Clock& clock)
      : ledger_(ledger), rows_(rows), clock_(clock), references_(ledger) {}

  std::shared_ptr<registry::WriteHooks> Begin(const registry::Target& target,
                                              const registry::CommonOptions& options) override;
  std::vector<commit::Guard> Guards(const registry::Target& target) const override;
  /// Returns false for a record that cools down: a new reservation replaces it.
  bool Exists(const state::Object& object) const override;
  /// Returns which Service has the value. Kubernetes' own kind gets no such warning, because there
  /// an object that exists is not about a value.
  std::optional<std::string> WarningAboutExisting(const registry::Target& target,
                                                  const state::Object& object) const override;
  void Refresh(const state::Object& object, codec::Value& value) const override;
  bool IsFresh(const state::Object& object, std::string_view json) const override;

 private:
  Ledger& ledger_;
  const RecordRows rows_;
  const base::Clock& clock_;
  const RangeReferences references_;
};

}  // namespace berth::allocation
