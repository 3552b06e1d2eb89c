// metadata.managedFields as sets: which manager owns which fields. For use inside merge.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "api/kinds.h"
#include "base/result.h"
#include "codec/value.h"
#include "merge/compare.h"
#include "merge/field_set.h"
#include "merge/managed_fields.h"

namespace berth::merge {

struct Manager {
  std::string name = {};
  bool applies = false;  // Operation Apply, else Update.
  std::string api_version = {};
  std::string subresource = {};
  std::string time = {};  // Empty if not known.
  FieldSet fields = {};
  std::string fields_v1 = {};  // Text of `fields`, if it is known.

  void SetFields(FieldSet set) {
    fields = std::move(set);
    fields_v1.clear();
  }
};

/// Returns the identity of a manager, which is also its sort key in Kubernetes: the JSON of its
/// entry without times and fields. A manager that applies has the same identity in every version.
std::string ManagerId(const Manager& manager);

/// By ManagerId.
using Managers = std::map<std::string, Manager>;

/// Reads the entries. If several have the same identity, the last one counts.
/// An Error is kBadRequest.
base::Result<Managers> ReadManagers(const codec::Array& entries);

/// Returns one entry.
codec::Value WriteManager(Manager manager);

/// Returns the entries in Kubernetes' order: by operation, time, name, version, subresource.
codec::Array WriteManagers(const Managers& managers);

/// Removes managers of versions that do not exist, as Kubernetes does, and adapts the fields of the
/// others to the current types.
void FitManagers(Managers& managers, const api::Kind& kind);

/// Returns whether the manager's fields have the names of this version. Managers of other
/// versions stay unchanged: the fields of an Event that was written through the other of its
/// two API groups are not converted.
bool IsOfVersion(const Manager& manager, const api::Kind& kind);

/// Returns the fields that no manager owns: names, uids and the like.
const FieldSet& UnownedFields();

/// Returns the manager of a write other than an apply, without fields.
Manager WriterOf(const FieldWrite& write);

/// A comparison prepared for many managers. The comparison must not change during its lifetime.
struct ComparisonIndex {
  explicit ComparisonIndex(const Comparison& comparison)
      : changed(comparison.changed), removed(comparison.removed) {}

  FieldIndex changed;
  FieldIndex removed;
};

/// Removes the fields that another manager changed or removed.
void LoseFields(Manager& manager, const ComparisonIndex& comparison);

/// Gives the fields that changed in a write other than an apply to the writer.
void RecordChange(Managers& managers, const FieldWrite& write, const Comparison& comparison);

/// For apply: returns `manager`, or "unknown" if it is empty.
std::string_view NameOf(const FieldWrite& write);

}  // namespace berth::merge
