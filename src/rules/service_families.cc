// Decides ipFamilyPolicy and ipFamilies of a Service. Fields that the client left open follow from
// the given cluster IPs, the previous Service, and the configured families.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/service.h"
#include "rules/service_defaults.h"
#include "rules/service_validation.h"

namespace berth::rules {
namespace {

constexpr std::string_view kSingle = "SingleStack";
constexpr std::string_view kPrefer = "PreferDualStack";
constexpr std::string_view kRequire = "RequireDualStack";

const Path kPolicyPath("spec.ipFamilyPolicy");

std::string_view Other(std::string_view family) {
  return ip::FamilyText(family == ip::FamilyText(ip::Family::kV4) ? ip::Family::kV6
                                                                  : ip::Family::kV4);
}

/// Returns whether the families must be configured. They need not be for a headless Service without
/// a selector.
bool HasClusterFamilies(const codec::Value& service) {
  return !IsExternalName(service) && (!IsHeadless(service) || HasSelector(service));
}

/// Returns whether an update keeps PreferDualStack with the same addresses. Then neither families
/// nor addresses change, whatever the configured families are now.
bool KeepsPreferDualStack(const codec::Value& service, const codec::Value& old) {
  const std::string_view before = StringAt(old, "spec", "ipFamilyPolicy");
  return StringAt(service, "spec", "ipFamilyPolicy") == kPrefer &&
         (before.empty() || before == kPrefer) && !IsExternalName(service) &&
         ServiceType(service) == ServiceType(old) &&
         ArrayAt(service, "spec", "clusterIPs") == ArrayAt(old, "spec", "clusterIPs") &&
         ArrayAt(service, "spec", "ipFamilies") == ArrayAt(old, "spec", "ipFamilies");
}

/// Returns whether the client left all fields about families unchanged, or out.
bool LeavesFamilies(const codec::Value& service, const codec::Value& old) {
  const auto leaves = [&](std::string_view field) {
    const codec::Value* now = FindAt(service, "spec", field);
    return now == nullptr || Same(now, FindAt(old, "spec", field));
  };
  return !IsExternalName(old) && leaves("clusterIPs") && leaves("ipFamilies") &&
         leaves("ipFamilyPolicy");
}

/// Works on one Service. Each step below is one of Kubernetes' steps, in the same order.
class FamilyRules {
 public:
  FamilyRules(codec::Value& service, const codec::Value* old,
              std::span<const ip::Family> configured)
      : service_(service),
        old_(old),
        configured_(configured),
        ips_(Texts(ArrayAt(service, "spec", "clusterIPs"))),
        families_(Texts(ArrayAt(service, "spec", "ipFamilies"))) {
    if (old != nullptr && HasClusterFamilies(*old)) {
      had_ = Texts(ArrayAt(*old, "spec", "ipFamilies"));
    }
  }

  FieldErrors Run() {
    DecidePolicy();
    errors_ = ValidateClusterIps(service_, old_);
    if (!errors_.empty()) return errors_;
    if (old_ != nullptr) FitToOld();
    RequireRoomForTwo();
    AddFamiliesOfIps();
    if (!errors_.empty()) return errors_;
    if (IsHeadless(service_) && !HasSelector(service_)) {
      CompleteFamilies(true);
      return errors_;
    }
    RequireConfigured();
    if (errors_.empty()) CompleteFamilies(configured_.size() == 2 || had_.size() == 2);
    return errors_;
  }

 private:
  bool IsConfigured(std::string_view family) const {
    return std::ranges::any_of(configured_,
                               [family](ip::Family one) { return ip::FamilyText(one) == family; });
  }

  bool Had(std::string_view family) const { return std::ranges::find(had_, family) != had_.end(); }

  void DecidePolicy() {
    policy_ = StringAt(service_, "spec", "ipFamilyPolicy");
    if (HasAt(service_, "spec", "ipFamilyPolicy")) return;
    if (old_ != nullptr) policy_ = StringAt(*old_, "spec", "ipFamilyPolicy");
    if (policy_.empty()) {
      policy_ = IsHeadless(service_) && !HasSelector(service_) ? kRequire : kSingle;
    }
    SetAt(service_, {"spec", "ipFamilyPolicy"}, policy_);
  }

  /// Removes the second address and family for SingleStack. Refuses to lose one with other
  /// policies.
  void FitToOld() {
    const std::vector<std::string> old_ips = Texts(ArrayAt(*old_, "spec", "clusterIPs"));
    const std::vector<std::string> old_families = Texts(ArrayAt(*old_, "spec", "ipFamilies"));
    if (policy_ == kSingle) {
      if (ips_ == old_ips && ips_.size() == 2) SetList(ips_, {ips_[0]}, "clusterIPs");
      if (families_ == old_families && families_.size() == 2) {
        SetList(families_, {families_[0]}, "ipFamilies");
      }
      return;
    }
    if (!ips_.empty() && ips_.size() < old_ips.size()) {
      errors_.Invalid(kPolicyPath, policy_,
                      "must be 'SingleStack' to release the secondary cluster IP");
    }
    if (!families_.empty() && families_.size() < old_families.size()) {
      errors_.Invalid(kPolicyPath, policy_,
                      "must be 'SingleStack' to release the secondary IP family");
    }
  }

  void RequireRoomForTwo() {
    if (policy_ != kSingle) return;
    constexpr std::string_view kDetail =
        "must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are specified";
    if (ips_.size() == 2) {
      errors_.Invalid(kPolicyPath, policy_, fmt::format(kDetail, "cluster IPs"));
    }
    if (families_.size() == 2) {
      errors_.Invalid(kPolicyPath, policy_, fmt::format(kDetail, "IP families"));
    }
  }

  void AddFamiliesOfIps() {
    std::vector<std::string> families = families_;
    for (size_t i = 0; i < ips_.size() && ips_[i] != "None"; ++i) {
      if (i < families.size()) continue;
      const auto parsed = ip::ParseAddrLoose(ips_[i]);
      if (!parsed.has_value()) continue;  // It comes from the old object; nothing to derive.
      const std::string_view family = ip::FamilyText(parsed->addr.family());
      families.emplace_back(family);
      if (IsConfigured(family) || Had(family)) continue;
      errors_.Invalid(Path("spec.clusterIPs").Index(i), ArrayAt(service_, "spec", "clusterIPs"),
                      fmt::format("{} is not configured on this cluster", family));
    }
    SetList(families_, std::move(families), "ipFamilies");
  }

  void RequireConfigured() {
    if (policy_ == kRequire && configured_.size() < 2 && had_.size() < 2) {
      errors_.Invalid(kPolicyPath, policy_,
                      "this cluster is not configured for dual-stack services");
    }
    // A Service keeps its families. If one of them is new to it, all of them must be configured.
    if (std::ranges::all_of(families_, [this](std::string_view family) { return Had(family); })) {
      return;
    }
    for (size_t i = 0; i < families_.size(); ++i) {
      if (IsConfigured(families_[i])) continue;
      errors_.Invalid(Path("spec.ipFamilies").Index(i), families_[i],
                      "not configured on this cluster");
    }
  }

  void CompleteFamilies(bool second_possible) {
    std::vector<std::string> families = families_;
    if (families.empty()) {
      families.emplace_back(
          ip::FamilyText(configured_.empty() ? ip::Family::kV4 : configured_.front()));
    }
    if (policy_ != kSingle && families.size() == 1 && second_possible) {
      families.emplace_back(Other(families.front()));
    }
    SetList(families_, std::move(families), "ipFamilies");
  }

  void SetList(std::vector<std::string>& list, std::vector<std::string> now,
               std::string_view field) {
    list = std::move(now);
    if (list.empty()) return;
    SetAt(service_, {"spec", field}, codec::Array(list.begin(), list.end()));
  }

  codec::Value& service_;
  const codec::Value* old_;
  std::span<const ip::Family> configured_;
  std::vector<std::string> ips_;
  std::vector<std::string> families_;
  std::vector<std::string> had_;  // Families of the old Service that the cluster had accepted.
  std::string policy_;
  FieldErrors errors_;
};

/// Refuses the Service's own address as its second address. The address is taken, which Kubernetes
/// reports before it checks anything else.
void CheckOwnAddress(FieldErrors& errors, const codec::Value& service, const codec::Value& old) {
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  const codec::Array& had = ArrayAt(old, "spec", "clusterIPs");
  if (IsExternalName(old) || IsHeadless(old) || ips.size() != 2 || had.size() != 1) return;
  if (Text(&ips[1]).empty() || Text(&ips[1]) != Text(&had[0])) return;
  errors.Invalid(
      Path("spec.clusterIPs"), ips,
      fmt::format("failed to allocate IP {}: provided IP is already allocated", Text(&had[0])));
}

}  // namespace

FieldErrors InitServiceFamilies(codec::Value& service, const codec::Value* old,
                                std::span<const ip::Family> configured, bool dual_stack) {
  if (IsExternalName(service)) return {};
  if (old != nullptr && KeepsPreferDualStack(service, *old)) return {};
  if (old != nullptr && HasAt(*old, "metadata", "deletionTimestamp") &&
      LeavesFamilies(service, *old)) {
    CopyAt(service, *old, {"spec", "ipFamilies"});
    CopyAt(service, *old, {"spec", "ipFamilyPolicy"});
    return {};
  }
  if (!dual_stack && configured.size() > 1) configured = configured.first(1);
  FieldErrors errors = FamilyRules(service, old, configured).Run();
  if (old != nullptr && errors.empty()) CheckOwnAddress(errors, service, *old);
  return errors;
}

}  // namespace berth::rules
