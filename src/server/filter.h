// The selectors of a list or a watch. The selectors use the names of the view; the functions here
// use the names of stored objects. Immutable; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "registry/kind_rows.h"
#include "rules/field_selector.h"
#include "rules/selector.h"
#include "server/options.h"
#include "state/object.h"

namespace berth::server {

class Filter {
 public:
  static base::Result<Filter> Make(const registry::Served& served, const ListOptions& options);

  /// Returns whether there are no selectors. Then every object matches that the view shows.
  bool IsEmpty() const { return labels_.empty() && fields_.empty(); }

  /// Returns whether matching takes time for each object, so that many objects need a worker.
  bool TakesTime() const { return !IsEmpty() || served_.view->name_from_stored != nullptr; }

  /// Returns whether the object matches. Decodes it only if the selectors need more than its name
  /// and namespace.
  bool Matches(const state::Object& object) const;

  /// Returns the only name, or namespace, that can match, if the selectors require one. The name is
  /// empty if no object can have it.
  std::optional<std::string_view> Name() const { return fields_.RequiredValue("metadata.name"); }
  std::optional<std::string_view> Namespace() const {
    return fields_.RequiredValue("metadata.namespace");
  }

 private:
  registry::Served served_ = {};
  rules::LabelSelector labels_;
  rules::FieldSelector fields_;
  bool by_name_only_ = false;
};

}  // namespace berth::server
