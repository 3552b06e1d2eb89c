#include "rules/node_port_range.h"

#include <string_view>

#include "codec/read.h"
#include "rules/metadata.h"
#include "rules/range_spec.h"

namespace berth::rules {
namespace {

void ValidateSpec(FieldErrors& errors, const codec::Value& range) {
  const Path path("spec.range");
  const std::string_view text = StringAt(range, "spec", "range");
  if (text.empty()) {
    errors.Required(path, "the ports of the range, (e.g. 443 or 30000-32767)");
  } else {
    errors.InvalidEach(path, text, NodePortRangeProblems(text));
  }
  ValidateRangeOptions(errors, range, ExcludedPortProblems);
}

}  // namespace

FieldErrors ValidateNodePortRangeCreate(const codec::Value& range) {
  FieldErrors errors =
      ValidateMetadata(range, Scope::kCluster, NameIsDnsSubdomain, FinalizerRule::kAny);
  ValidateSpec(errors, range);
  return errors;
}

FieldErrors ValidateNodePortRangeUpdate(const codec::Value& range, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(range, old, FinalizerRule::kAny);
  if (!Same(FindAt(range, "spec"), FindAt(old, "spec"))) ValidateSpec(errors, range);
  return errors;
}

}  // namespace berth::rules
