// Who owns which fields: metadata.managedFields as sets. For use inside merge.
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
  bool applies = false;  // Operation Apply; else Update.
  std::string api_version = {};
  std::string subresource = {};
  std::string time = {};  // Empty: not known.
  FieldSet fields = {};
  std::string fields_v1 = {};  // The text of them, if that is known.

  void SetFields(FieldSet set) {
    fields = std::move(set);
    fields_v1.clear();
  }
};

/// What tells managers apart, as Kubernetes orders them: the JSON of the entry without the rest.
/// Who applies is the same in every version.
std::string ManagerId(const Manager& manager);

/// By ManagerId.
using Managers = std::map<std::string, Manager>;

/// Of entries with the same identity the last counts. An Error is kBadRequest.
base::Result<Managers> ReadManagers(const codec::Array& entries);

/// One entry.
codec::Value WriteManager(Manager manager);

/// In Kubernetes' order: by operation, time, name, version, subresource.
codec::Array WriteManagers(const Managers& managers);

/// Leaves out managers of versions that do not exist, as upstream, and makes the fields of the
/// others fit the types of today.
void FitManagers(Managers& managers, const api::Kind& kind);

/// Whether the fields are named as in this version. Others stay what they are: an event written
/// through the other of its two groups is not looked through for them.
bool IsOfVersion(const Manager& manager, const api::Kind& kind);

/// What nobody owns: names, uids and the like.
const FieldSet& UnownedFields();

/// Who makes a write that is no apply; no fields yet.
Manager WriterOf(const FieldWrite& write);

/// A comparison made ready for many managers; it must stay as it is meanwhile.
struct ComparisonIndex {
  explicit ComparisonIndex(const Comparison& comparison)
      : changed(comparison.changed), removed(comparison.removed) {}

  FieldIndex changed;
  FieldIndex removed;
};

/// What changes or goes by somebody else's hand is no longer the manager's.
void LoseFields(Manager& manager, const ComparisonIndex& comparison);

/// A write that is no apply changed these fields: they are the writer's now.
void RecordChange(Managers& managers, const FieldWrite& write, const Comparison& comparison);

/// For apply: `manager`, or "unknown".
std::string_view NameOf(const FieldWrite& write);

}  // namespace berth::merge
