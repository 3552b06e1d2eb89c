#include "rules/ip_range.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "codec/read.h"
#include "ip/cidr.h"
#include "rules/metadata.h"
#include "rules/range_spec.h"

namespace berth::rules {
namespace {

std::optional<ip::Family> FamilyOfRange(const codec::Value& range) {
  const auto loose = ip::ParseCidrLoose(StringAt(range, "spec", "range"));
  if (!loose) return std::nullopt;
  return loose->cidr.family();
}

void ValidateIpRangeSpec(FieldErrors& errors, const codec::Value& range) {
  const Path path("spec.range");
  const std::string_view text = StringAt(range, "spec", "range");
  if (text.empty()) {
    errors.Required(path, "the CIDR of the range, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
  } else {
    errors.InvalidEach(path, text, IpRangeProblems(text));
  }
  const auto family = FamilyOfRange(range);
  ValidateRangeOptions(errors, range, [family](std::string_view entry) {
    return ExcludedAddressProblems(entry, family);
  });
}

/// Checks that a well-known name is used for a range of its family.
void ValidateWellKnown(FieldErrors& errors, const codec::Value& range) {
  const std::string_view name = StringAt(range, "metadata", "name");
  const bool v4 = name == kIpv4RangeName;
  const auto family = FamilyOfRange(range);
  if ((!v4 && name != kIpv6RangeName) || !family) return;
  const ip::Family wanted = v4 ? ip::Family::kV4 : ip::Family::kV6;
  if (family == wanted) return;
  errors.Invalid(Path("spec.range"), StringAt(range, "spec", "range"),
                 fmt::format("must be {}: the name {} is that of the {} range of the cluster",
                             ip::FamilyText(wanted), name, ip::FamilyText(wanted)));
}

}  // namespace

FieldErrors ValidateIpRangeCreate(const codec::Value& range) {
  FieldErrors errors =
      ValidateMetadata(range, Scope::kCluster, NameIsDnsSubdomain, FinalizerRule::kAny);
  ValidateIpRangeSpec(errors, range);
  ValidateWellKnown(errors, range);
  return errors;
}

FieldErrors ValidateIpRangeUpdate(const codec::Value& range, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(range, old, FinalizerRule::kAny);
  if (Same(FindAt(range, "spec"), FindAt(old, "spec"))) return errors;
  ValidateIpRangeSpec(errors, range);
  const auto family = FamilyOfRange(range);
  const auto before = FamilyOfRange(old);
  if (family && before && family != before) {
    errors.Invalid(Path("spec.range"), StringAt(range, "spec", "range"),
                   fmt::format("must stay {}: the IP family of a range cannot be changed; create "
                               "another IPRange for {}",
                               ip::FamilyText(*before), ip::FamilyText(*family)));
  }
  return errors;
}

}  // namespace berth::rules
