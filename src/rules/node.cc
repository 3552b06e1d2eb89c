#include "rules/node.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "codec/read.h"
#include "rules/address_text.h"
#include "rules/metadata.h"
#include "rules/node_checks.h"

namespace berth::rules {
namespace {

constexpr std::string_view kNotReady = "node.kubernetes.io/not-ready";
constexpr std::string_view kNoSchedule = "NoSchedule";

/// Checks a Node as a whole.
void ValidateNode(FieldErrors& errors, const codec::Value& node) {
  errors.Append(ValidateMetadata(node, Scope::kCluster, NameIsDnsSubdomain, FinalizerRule::kCore));
  CheckNodeAnnotations(errors, node);
  CheckTaints(errors, Path("metadata.taints"), ArrayAt(node, "spec", "taints"));
  CheckResources(errors, node);
  CheckSwap(errors, node);
  CheckDeclaredFeatures(errors, node);
  CheckPodCidrs(errors, node);
}

void ValidateIdentity(FieldErrors& errors, const codec::Value& node, const codec::Value& old) {
  const codec::Array& before = ArrayAt(old, "spec", "podCIDRs");
  const codec::Array& now = ArrayAt(node, "spec", "podCIDRs");
  constexpr std::string_view kCidrFixed =
      "node updates may not change podCIDR except from \"\" to valid";
  if (!before.empty() && before.size() != now.size()) {
    errors.Forbidden(Path("spec.podCIDRs"), kCidrFixed);
  } else {
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i] != now[i]) errors.Forbidden(Path("spec.podCIDRs"), kCidrFixed);
    }
  }
  const std::string_view provider = StringAt(old, "spec", "providerID");
  if (!provider.empty() && provider != StringAt(node, "spec", "providerID")) {
    errors.Forbidden(Path("spec.providerID"),
                     "node updates may not change providerID except from \"\" to valid");
  }
}

/// Checks a change of a Node, through either door.
void ValidateChange(FieldErrors& errors, const codec::Value& node, const codec::Value& old) {
  errors.Append(ValidateMetadataUpdate(node, old, FinalizerRule::kCore));
  CheckNodeAnnotations(errors, node);
  CheckResources(errors, node);
  CheckDeclaredFeatures(errors, node);
  CheckNodeAddresses(errors, node);
  ValidateIdentity(errors, node, old);
  CheckConfig(errors, node);
  CheckTaints(errors, Path("metadata.taints"), ArrayAt(node, "spec", "taints"));
  if (StringAt(node, "spec", "externalID") != StringAt(old, "spec", "externalID")) {
    errors.Forbidden(Path("spec.externalID"), "may not be updated");
  }
}

}  // namespace

void DefaultNode(codec::Value& node) {
  const std::string cidr(StringAt(node, "spec", "podCIDR"));
  const codec::Array& cidrs = ArrayAt(node, "spec", "podCIDRs");
  // Older clients know only the single field, so it counts if the two differ.
  if (!cidr.empty() && (cidrs.empty() || Text(&cidrs.front()) != cidr)) {
    SetAt(node, {"spec", "podCIDRs"}, codec::Array{cidr});
  } else if (cidr.empty() && !cidrs.empty() && !Text(&cidrs.front()).empty()) {
    SetAt(node, {"spec", "podCIDR"}, std::string(Text(&cidrs.front())));
  }
  const codec::Value* capacity = FindAt(node, "status", "capacity");
  if (capacity != nullptr && !HasAt(node, "status", "allocatable")) {
    codec::Value copy = *capacity;
    SetAt(node, {"status", "allocatable"}, std::move(copy));
  }
}

void PrepareNodeCreate(codec::Value& node) {
  codec::Array taints = ArrayAt(node, "spec", "taints");
  const bool has = std::ranges::any_of(taints, [](const codec::Value& taint) {
    return StringAt(taint, "key") == kNotReady && StringAt(taint, "effect") == kNoSchedule;
  });
  if (!has) {
    taints.emplace_back(codec::Object{{"key", kNotReady}, {"effect", kNoSchedule}});
    SetAt(node, {"spec", "taints"}, std::move(taints));
  }
  EraseAt(node, {"spec", "configSource"});
  EraseAt(node, {"status", "config"});
}

void PrepareNodeUpdate(codec::Value& node, const codec::Value& old) {
  CopyAt(node, old, {"status"});
  if (!HasAt(old, "spec", "configSource")) EraseAt(node, {"spec", "configSource"});
}

void PrepareNodeStatusUpdate(codec::Value& node, const codec::Value& old) {
  CopyAt(node, old, {"spec"});
  if (!HasAt(old, "status", "config")) EraseAt(node, {"status", "config"});
}

FieldErrors ValidateNodeCreate(const codec::Value& node) {
  FieldErrors errors;
  ValidateNode(errors, node);
  return errors;
}

FieldErrors ValidateNodeUpdate(const codec::Value& node, const codec::Value& old) {
  // Kubernetes makes both checks too, so some errors come twice.
  FieldErrors errors;
  ValidateNode(errors, node);
  ValidateChange(errors, node, old);
  return errors;
}

FieldErrors ValidateNodeStatusUpdate(const codec::Value& node, const codec::Value& old) {
  FieldErrors errors;
  ValidateChange(errors, node, old);
  return errors;
}

std::vector<std::string> NodeWarnings(const codec::Value& node) {
  std::vector<std::string> warnings;
  if (HasAt(node, "spec", "configSource")) {
    warnings.emplace_back("spec.configSource: the feature is removed");
  }
  if (!StringAt(node, "spec", "externalID").empty()) {
    warnings.emplace_back("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  }
  const codec::Array& cidrs = ArrayAt(node, "spec", "podCIDRs");
  for (size_t i = 0; i < cidrs.size(); ++i) {
    WarnOfBlock(warnings, Path("spec.podCIDRs").Index(i), Text(&cidrs[i]));
  }
  return warnings;
}

}  // namespace berth::rules
