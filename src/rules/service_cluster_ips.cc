#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "codec/read.h"
#include "ip/addr.h"
#include "rules/service.h"
#include "rules/service_checks.h"
#include "rules/service_validation.h"

namespace berth::rules {
namespace {

const Path kIps("spec.clusterIPs");
const Path kFamilies("spec.ipFamilies");
const Path kPolicy("spec.ipFamilyPolicy");
constexpr std::string_view kUnchangeable = "may not change once set";

bool IsSingleStack(const codec::Value& service) {
  return StringAt(service, "spec", "ipFamilyPolicy") == "SingleStack";
}

bool OnlyNone(const codec::Array& ips) { return ips.size() == 1 && Text(&ips.front()) == "None"; }

codec::Value PolicyOf(const codec::Value& service) {
  const codec::Value* policy = FindAt(service, "spec", "ipFamilyPolicy");
  return policy == nullptr ? codec::Value() : *policy;
}

void CheckSingularAndPlural(FieldErrors& errors, const codec::Value& service) {
  const std::string_view ip = StringAt(service, "spec", "clusterIP");
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  if (!ip.empty() && ips.empty()) errors.Required(kIps);
  if (!ip.empty() && !ips.empty() && Text(&ips.front()) != ip) {
    errors.Invalid(kIps, ips, "first value must match `clusterIP`");
  }
  if (ip.empty() && !ips.empty()) {
    errors.Invalid(kIps, ips, "must be empty when `clusterIP` is not specified");
  }
}

void CheckFamilies(FieldErrors& errors, const codec::Value& service) {
  const codec::Array& families = ArrayAt(service, "spec", "ipFamilies");
  std::set<std::string_view> seen;
  for (size_t i = 0; i < families.size(); ++i) {
    const std::string_view family = Text(&families[i]);
    if (family != "IPv4" && family != "IPv6") {
      errors.NotSupported(kFamilies.Index(i), family, {"IPv4", "IPv6"});
    }
    if (!seen.insert(family).second) errors.Duplicate(kFamilies.Index(i), family);
  }
}

void CheckPolicy(FieldErrors& errors, const codec::Value& service) {
  const codec::Value* policy = FindAt(service, "spec", "ipFamilyPolicy");
  if (policy == nullptr) return;
  const std::string_view text = Text(policy);
  if (text != "SingleStack" && text != "PreferDualStack" && text != "RequireDualStack") {
    errors.NotSupported(kPolicy, text, {"PreferDualStack", "RequireDualStack", "SingleStack"});
  }
}

/// Returns whether each entry can be parsed. Otherwise families cannot be checked.
bool CheckEntries(FieldErrors& errors, const codec::Array& ips,
                  const std::set<std::string_view>& old) {
  const size_t before = errors.size();
  for (size_t i = 0; i < ips.size(); ++i) {
    const std::string_view text = Text(&ips[i]);
    if (i == 0 && text == "None") {
      if (ips.size() > 1) errors.Invalid(kIps, ips, "'None' must be the first and only value");
    } else {
      CheckAddress(errors, kIps.Index(i), text, old);
    }
  }
  const bool readable = errors.size() == before;
  if (ips.size() > 2) errors.Invalid(kIps, ips, "may only hold up to 2 values");
  return readable;
}

std::optional<std::string_view> FamilyOf(std::string_view text) {
  const auto parsed = ip::ParseAddrLoose(text);
  if (!parsed.has_value()) return std::nullopt;
  return ip::FamilyText(parsed->addr.family());
}

void CheckAgainstFamilies(FieldErrors& errors, const codec::Array& ips,
                          const codec::Array& families) {
  const bool both = std::ranges::any_of(ips, [&ips](const codec::Value& ip) {
    return FamilyOf(Text(&ip)) != FamilyOf(Text(ips.data()));
  });
  if (ips.size() > 1 && !both) {
    errors.Invalid(kIps, ips, "may specify no more than one IP for each IP family");
  }
  if (OnlyNone(ips)) return;
  for (size_t i = 0; i < ips.size() && i < families.size(); ++i) {
    const std::string_view wanted = Text(&families[i]);
    const bool known = wanted == "IPv4" || wanted == "IPv6";
    if (!known || FamilyOf(Text(&ips[i])) == wanted) continue;
    errors.Invalid(kIps.Index(i), Text(&ips[i]),
                   fmt::format("expected an {} value as indicated by `ipFamilies[{}]`", wanted, i));
  }
}

void CheckIpsKept(FieldErrors& errors, const codec::Value& service, const codec::Value& old) {
  const codec::Array& now = ArrayAt(service, "spec", "clusterIPs");
  const codec::Array& before = ArrayAt(old, "spec", "clusterIPs");
  if (OnlyNone(now) && OnlyNone(before)) return;
  if (now.size() == before.size()) {
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] != before[i]) errors.Invalid(kIps.Index(i), now, kUnchangeable);
    }
    return;
  }
  if (now.empty()) errors.Invalid(kIps.Index(0), now, "primary clusterIP can not be unset");
  if (!now.empty() && !before.empty() && now.front() != before.front()) {
    errors.Invalid(kIps.Index(0), now, kUnchangeable);
  }
  if (now.size() < before.size() && now.size() == 1 && !IsSingleStack(service)) {
    errors.Invalid(kPolicy, PolicyOf(service),
                   "must be set to 'SingleStack' when releasing the secondary clusterIP");
  }
}

void CheckFamiliesKept(FieldErrors& errors, const codec::Value& service, const codec::Value& old) {
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  const codec::Array& old_ips = ArrayAt(old, "spec", "clusterIPs");
  if (OnlyNone(ips) || OnlyNone(old_ips)) return;
  const codec::Array& now = ArrayAt(service, "spec", "ipFamilies");
  const codec::Array& before = ArrayAt(old, "spec", "ipFamilies");
  // Kubernetes names the first entry and the wrong list in some of these errors. Clients see the
  // same.
  if (now.size() == before.size()) {
    for (size_t i = 0; i < now.size(); ++i) {
      if (now[i] != before[i]) errors.Invalid(kFamilies.Index(0), now, kUnchangeable);
    }
    return;
  }
  if (now.size() < before.size() && ips.empty() && !old_ips.empty()) {
    errors.Invalid(kFamilies.Index(0), now, "primary ipFamily can not be unset");
  }
  if (!now.empty() && !before.empty() && now.front() != before.front()) {
    errors.Invalid(kFamilies.Index(0), ips, kUnchangeable);
  }
  if (now.size() < before.size() && now.size() == 1 && !IsSingleStack(service)) {
    errors.Invalid(kPolicy, PolicyOf(service),
                   "must be set to 'SingleStack' when releasing the secondary ipFamily");
  }
}

}  // namespace

void CheckAddress(FieldErrors& errors, const Path& path, std::string_view text,
                  const std::set<std::string_view>& old) {
  if (old.contains(text)) return;
  const auto address = ip::ParseAddr(text, ip::Strictness::kLegacyField);
  if (!address.has_value()) errors.Invalid(path, text, address.error().message);
}

FieldErrors ValidateClusterIps(const codec::Value& service, const codec::Value* old) {
  FieldErrors errors;
  if (IsExternalName(service)) return errors;
  CheckSingularAndPlural(errors, service);
  CheckFamilies(errors, service);
  CheckPolicy(errors, service);
  const codec::Array& ips = ArrayAt(service, "spec", "clusterIPs");
  std::set<std::string_view> old_ips;
  if (old != nullptr) old_ips = TextSet(ArrayAt(*old, "spec", "clusterIPs"));
  if (CheckEntries(errors, ips, old_ips)) {
    CheckAgainstFamilies(errors, ips, ArrayAt(service, "spec", "ipFamilies"));
  }
  return errors;
}

void CheckAddressesKept(FieldErrors& errors, const codec::Value& service, const codec::Value& old) {
  if (IsExternalName(service) || IsExternalName(old)) return;
  CheckIpsKept(errors, service, old);
  CheckFamiliesKept(errors, service, old);
}

}  // namespace berth::rules
