#include "server/filter.h"

#include <algorithm>

#include "registry/object_errors.h"

namespace berth::server {

base::Result<Filter> Filter::Make(const registry::Served& served, const ListOptions& options) {
  Filter filter;
  filter.served_ = served;
  auto labels = rules::LabelSelector::Parse(options.label_selector);
  if (!labels) return tl::unexpected(std::move(labels.error()));
  auto fields =
      rules::FieldSelector::Parse(options.field_selector, registry::QualifiedKind(served.Kind()));
  if (!fields) return tl::unexpected(std::move(fields.error()));
  filter.labels_ = *std::move(labels);
  filter.fields_ = *std::move(fields);
  const auto& requirements = filter.fields_.requirements();
  filter.by_name_only_ =
      filter.labels_.empty() &&
      std::all_of(requirements.begin(), requirements.end(), [](const auto& requirement) {
        return requirement.field == "metadata.name" || requirement.field == "metadata.namespace";
      });
  return filter;
}

bool Filter::Matches(const state::Object& object) const {
  const auto shown_name = served_.view->name_from_stored;
  if (shown_name != nullptr && !shown_name(object.Name())) return false;
  if (IsEmpty()) return true;
  if (by_name_only_) {
    const auto& requirements = fields_.requirements();
    return std::all_of(requirements.begin(), requirements.end(), [&](const auto& requirement) {
      const std::string_view value =
          requirement.field == "metadata.name" ? object.Name() : object.Namespace();
      return (value == requirement.value) == requirement.equal;
    });
  }
  const auto value = registry::DecodeWithoutManagedFields(*served_.row, object);
  return value && labels_.Matches(*value) && fields_.Matches(*value);
}

}  // namespace berth::server
