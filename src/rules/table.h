// Objects as rows of a table, as `kubectl get` shows them: columns per kind, and the cells of one
// object. The table is always the wide form; clients hide columns with a priority above 0. Pure.
//
// `kind` is the Kind, with ".group" if it is not in the core group ("Lease.coordination.k8s.io"). A
// kind without columns of its own has Name and Created At.
#pragma once

#include <span>
#include <string_view>

#include "base/clock.h"
#include "codec/value.h"

namespace berth::rules {

/// One of a Table's columnDefinitions.
struct Column {
  std::string_view name;
  std::string_view type = "string";
  std::string_view format = {};
  std::string_view description;
  int priority = 0;
};

std::span<const Column> Columns(std::string_view kind);

/// Returns one cell per column. (An IPAddress has one cell more, as in Kubernetes.) An Event may be
/// passed in either view, according to `kind`.
codec::Array Cells(std::string_view kind, const codec::Value& object, base::WallTime now);

}  // namespace berth::rules
