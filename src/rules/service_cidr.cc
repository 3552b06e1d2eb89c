#include "rules/service_cidr.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "ip/cidr.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

constexpr std::string_view kImmutable = "field is immutable";
constexpr std::string_view kCidrFinalizer = "networking.k8s.io/service-cidr-finalizer";
constexpr std::string_view kReady = "Ready";
constexpr std::string_view kTerminating = "Terminating";
constexpr std::string_view kDefaultName = "kubernetes";
constexpr std::string_view kKeptByAddresses =
    "There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new "
    "ServiceCIDR";
constexpr std::string_view kBeingReplaced =
    "The default ServiceCIDR is being replaced: nothing new comes from it as long as another range "
    "of its family can serve. A server with another --service-cluster-ip-range takes over when no "
    "Service has an address of it";

const codec::Array& CidrsOf(const codec::Value& cidr) { return ArrayAt(cidr, "spec", "cidrs"); }

std::optional<ip::Family> FamilyOfCidr(const codec::Value& text) {
  const auto parsed = ip::ParseCidrLoose(Text(&text));
  if (!parsed) return std::nullopt;
  return parsed->cidr.family();
}

void ValidateCidrs(FieldErrors& errors, const codec::Array& cidrs) {
  const Path path("spec.cidrs");
  if (cidrs.empty()) return errors.Required(path, "at least one CIDR required");
  if (cidrs.size() > 2) {
    // Kubernetes prints the whole spec here, with the field names of its struct.
    return errors.Invalid(path, codec::Object{{"CIDRs", cidrs}}, "may only hold up to 2 values");
  }
  for (size_t i = 0; i < cidrs.size(); ++i) {
    const std::string_view text = Text(&cidrs[i]);
    errors.InvalidEach(path.Index(i), text, ip::CidrProblems(text));
  }
  if (cidrs.size() < 2) return;
  const auto first = FamilyOfCidr(cidrs[0]);
  if (first && first == FamilyOfCidr(cidrs[1])) {
    errors.Invalid(path, cidrs,
                   "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
                   "2001:db8::/64");
  }
}

/// Returns whether no address is left without the network address and, for IPv4, the broadcast
/// address. Kubernetes treats an IPv4 /0 as empty.
bool ServesNothing(std::string_view text) {
  const auto cidr = ip::ParseCidr(text);
  if (!cidr) return false;
  const int prefix = cidr->prefix_length();
  if (cidr->family() == ip::Family::kV6) return prefix == 128;
  return prefix == 0 || prefix >= 31;
}

codec::Value ReadyCondition(const codec::Value& cidr, std::string time) {
  std::vector<std::string> useless;
  const std::vector<std::string> cidrs = codec::Texts(CidrsOf(cidr));
  std::copy_if(cidrs.begin(), cidrs.end(), std::back_inserter(useless), ServesNothing);
  const bool ready = useless.size() < cidrs.size();
  const bool first = StringAt(cidr, "metadata", "name") == kDefaultName;
  std::string message = fmt::format("Kubernetes {}Service CIDR is ready", first ? "default " : "");
  if (!useless.empty()) {
    message = fmt::format("{} has no address that a Service can have", fmt::join(useless, " and "));
  }
  return codec::Object{{"type", kReady},
                       {"status", ready ? "True" : "False"},
                       {"lastTransitionTime", std::move(time)},
                       {"reason", ready ? "" : "NoUsableAddress"},
                       {"message", std::move(message)}};
}

const codec::Value* FindReady(const codec::Value& cidr) {
  for (const codec::Value& condition : ArrayAt(cidr, "status", "conditions")) {
    if (StringAt(condition, "type") == kReady) return &condition;
  }
  return nullptr;
}

/// Replaces the condition Ready. Other conditions are kept.
void SetReady(codec::Value& cidr, codec::Value ready) {
  codec::Array conditions = ArrayAt(cidr, "status", "conditions");
  std::erase_if(conditions, [](const codec::Value& condition) {
    return StringAt(condition, "type") == kReady;
  });
  conditions.insert(conditions.begin(), std::move(ready));
  SetAt(cidr, {"status", "conditions"}, std::move(conditions));
}

void AddFinalizer(codec::Value& cidr) {
  if (HasCidrFinalizer(cidr)) return;
  codec::Array finalizers = ArrayAt(cidr, "metadata", "finalizers");
  finalizers.emplace_back(kCidrFinalizer);
  SetAt(cidr, {"metadata", "finalizers"}, std::move(finalizers));
}

}  // namespace

void PrepareServiceCidrCreate(codec::Value& cidr) {
  EraseAt(cidr, {"status"});
  AddFinalizer(cidr);
}

bool HasCidrCondition(const codec::Value& cidr) { return FindReady(cidr) != nullptr; }

bool IsCidrConditionRight(const codec::Value& cidr) {
  const codec::Value* ready = FindReady(cidr);
  return ready != nullptr &&
         StringAt(*ready, "status") == StringAt(ReadyCondition(cidr, {}), "status");
}

void SetCidrCondition(codec::Value& cidr, base::WallTime now) {
  if (!IsCidrConditionRight(cidr)) SetReady(cidr, ReadyCondition(cidr, codec::FormatTime(now)));
}

void PrepareServiceCidrUpdate(codec::Value& cidr, const codec::Value& old) {
  CopyAt(cidr, old, {"status"});
  if (HasAt(old, "metadata", "deletionTimestamp")) return;
  AddFinalizer(cidr);
  // A ServiceCIDR that gets a second CIDR may be able to serve from then on.
  const codec::Value* before = FindReady(old);
  if (before == nullptr || CidrsOf(cidr) == CidrsOf(old)) return;
  SetReady(cidr, ReadyCondition(cidr, std::string(StringAt(*before, "lastTransitionTime"))));
}

bool HasCidrFinalizer(const codec::Value& cidr) {
  const codec::Array& finalizers = ArrayAt(cidr, "metadata", "finalizers");
  return std::find(finalizers.begin(), finalizers.end(), codec::Value(kCidrFinalizer)) !=
         finalizers.end();
}

void RemoveCidrFinalizer(codec::Value& cidr) {
  codec::Array finalizers = ArrayAt(cidr, "metadata", "finalizers");
  std::erase(finalizers, codec::Value(kCidrFinalizer));
  if (finalizers.empty()) {
    EraseAt(cidr, {"metadata", "finalizers"});
  } else {
    SetAt(cidr, {"metadata", "finalizers"}, std::move(finalizers));
  }
}

void SetCidrTerminating(codec::Value& cidr, base::WallTime now) {
  // The default ServiceCIDR is kept for another reason than Kubernetes' message says.
  const bool is_default = StringAt(cidr, "metadata", "name") == kDefaultName;
  SetReady(cidr, codec::Object{{"type", kReady},
                               {"status", "False"},
                               {"lastTransitionTime", codec::FormatTime(now)},
                               {"reason", kTerminating},
                               {"message", is_default ? kBeingReplaced : kKeptByAddresses}});
}

bool IsCidrTerminating(const codec::Value& cidr) {
  const codec::Value* ready = FindReady(cidr);
  return ready != nullptr && StringAt(*ready, "reason") == kTerminating;
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
