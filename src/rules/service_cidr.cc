#include "rules/service_cidr.h"

#include <optional>
#include <string_view>

#include "codec/read.h"
#include "ip/cidr.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

constexpr std::string_view kImmutable = "field is immutable";

const codec::Array& CidrsOf(const codec::Value& cidr) { return ArrayAt(cidr, "spec", "cidrs"); }

std::optional<ip::Family> FamilyOf(const codec::Value& text) {
  const auto parsed = ip::ParseCidrLoose(Text(&text));
  if (!parsed) return std::nullopt;
  return parsed->cidr.family();
}

void ValidateCidrs(FieldErrors& errors, const codec::Array& cidrs) {
  const Path path("spec.cidrs");
  if (cidrs.empty()) return errors.Required(path, "at least one CIDR required");
  if (cidrs.size() > 2) {
    // Upstream shows the whole spec here, as its struct has it.
    return errors.Invalid(path, codec::Object{{"CIDRs", cidrs}}, "may only hold up to 2 values");
  }
  for (size_t i = 0; i < cidrs.size(); ++i) {
    const std::string_view text = Text(&cidrs[i]);
    errors.InvalidEach(path.Index(i), text, ip::CidrProblems(text));
  }
  if (cidrs.size() < 2) return;
  const auto first = FamilyOf(cidrs[0]);
  if (first && first == FamilyOf(cidrs[1])) {
    errors.Invalid(path, cidrs,
                   "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
                   "2001:db8::/64");
  }
}

}  // namespace

void PrepareServiceCidrCreate(codec::Value& cidr) { EraseAt(cidr, {"status"}); }

void PrepareServiceCidrUpdate(codec::Value& cidr, const codec::Value& old) {
  CopyAt(cidr, old, {"status"});
}

void PrepareServiceCidrStatusUpdate(codec::Value& cidr, const codec::Value& old) {
  CopyAt(cidr, old, {"spec"});
  for (const std::string_view field : {"deletionTimestamp", "generation", "labels", "annotations",
                                       "finalizers", "ownerReferences"}) {
    CopyAt(cidr, old, {"metadata", field});
  }
}

FieldErrors ValidateServiceCidrCreate(const codec::Value& cidr) {
  FieldErrors errors =
      ValidateMetadata(cidr, Scope::kCluster, NameIsDnsSubdomain, FinalizerRule::kCore);
  ValidateCidrs(errors, CidrsOf(cidr));
  return errors;
}

FieldErrors ValidateServiceCidrUpdate(const codec::Value& cidr, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(cidr, old, FinalizerRule::kCore);
  const Path path("spec.cidrs");
  const codec::Array& now = CidrsOf(cidr);
  const codec::Array& before = CidrsOf(old);
  const bool grows = before.size() == 1 && now.size() == 2;
  if (now.size() != before.size() && !grows) {
    errors.Invalid(path, now, kImmutable);
    return errors;
  }
  for (size_t i = 0; i < before.size(); ++i) {
    if (now[i] != before[i]) errors.Invalid(path.Index(i), now[i], kImmutable);
  }
  if (grows) ValidateCidrs(errors, now);
  return errors;
}

FieldErrors ValidateServiceCidrStatusUpdate(const codec::Value& cidr, const codec::Value& old) {
  return ValidateMetadataUpdate(cidr, old, FinalizerRule::kCore);
}

}  // namespace berth::rules
