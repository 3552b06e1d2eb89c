// Which objects a list or a watch wants, by its selectors; names are those of the view in the
// selectors, and those of the stored form in what is asked here. Immutable; any thread.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "registry/kinds.h"
#include "rules/field_selector.h"
#include "rules/selector.h"
#include "server/options.h"
#include "state/object.h"

namespace berth::server {

class Filter {
 public:
  static base::Result<Filter> Make(const registry::Served& served, const ListOptions& options);

  /// Everything matches that has a name in the view.
  bool IsEmpty() const { return labels_.empty() && fields_.empty(); }

  /// Whether many objects take their time to look at.
  bool TakesTime() const { return !IsEmpty() || served_.view->name_from_stored != nullptr; }

  /// Whether it has to be decoded is decided here: a name or a namespace is known without.
  bool Matches(const state::Object& object) const;

  /// The one name, or namespace, that can match; a name that nothing can have is empty.
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
