// Which objects a list or a watch wants, by its selectors. Immutable; any thread.
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

  /// Everything matches.
  bool IsEmpty() const { return labels_.empty() && fields_.empty(); }

  /// Whether it has to be decoded is decided here: a name or a namespace is known without.
  bool Matches(const state::Object& object) const;

  /// The one name, or namespace, that can match.
  std::optional<std::string_view> Name() const { return fields_.RequiredValue("metadata.name"); }
  std::optional<std::string_view> Namespace() const {
    return fields_.RequiredValue("metadata.namespace");
  }

 private:
  const registry::Row* row_ = nullptr;
  rules::LabelSelector labels_;
  rules::FieldSelector fields_;
  bool by_name_only_ = false;
};

}  // namespace berth::server
