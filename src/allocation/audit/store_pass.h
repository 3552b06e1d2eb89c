// A pass of the auditor over stored objects. The caller shows it every object of one revision; the
// pass reads those that say something about addresses and ports.
//
//   StorePass pass(kinds, {.revision = 4711});
//   for (...) pass.Add(object);
//   const audit::Report report = std::move(pass).Finish();
//
// Fences come first, because the note about the form of the allocations is among them. The order of
// all other objects is free; a pass costs least memory if Services come before records.
//
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "allocation/claims/allocation_form.h"
#include "allocation/records.h"
#include "audit/finding.h"
#include "audit/pass.h"
#include "registry/kind_rows.h"
#include "state/object.h"

namespace berth::allocation {

struct StorePassOptions {
  int64_t revision = 0;
  std::function<void()> pause = {};  // As audit::PassOptions::pause.
};

/// Returns the rows of the kinds that a pass reads, in the order in which it should see them.
std::vector<const registry::Row*> AuditedRows(const registry::Kinds& kinds);

class StorePass {
 public:
  /// `kinds` must outlive the pass.
  StorePass(const registry::Kinds& kinds, StorePassOptions options);

  void Add(const state::Object& object);
  /// Adds a stored value that cannot be decoded. `error` says why.
  void AddUndecodable(const std::string& key, const std::string& error);

  /// Returns the form that the store's note says.
  AllocationForm Form() const { return form_; }
  audit::Report Finish() &&;

 private:
  void AddService(const state::Object& object);
  void AddAddress(const state::Object& object);
  void AddPort(const state::Object& object);
  void AddRecord(const state::Object& object, audit::RecordFacts facts);
  void AddRange(const registry::Row& row, const state::Object& object);
  void AddBitmap(const state::Object& object);
  void MarkRangesInForce();

  const RecordRows rows_;
  const registry::Row& services_;
  AllocationForm form_ = AllocationForm::kRecords;
  std::vector<audit::RangeObjectFacts> ranges_;
  audit::Pass pass_;
};

}  // namespace berth::allocation
