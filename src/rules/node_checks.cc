#include "rules/node_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/go_text.h"
#include "codec/decode.h"
#include "codec/quantity.h"
#include "codec/read.h"
#include "ip/cidr.h"
#include "rules/names.h"

namespace berth::rules {
namespace {

constexpr std::string_view kTaintsAnnotation = "scheduler.alpha.kubernetes.io/taints";
constexpr std::string_view kAvoidAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";
constexpr size_t kMaxFeatureName = 253;
constexpr size_t kMaxConfigKey = 253;

/// Returns a member of an object whose keys Go's decoder matches without regard to case.
std::string_view TextOfEither(const codec::Value& object, std::string_view lower,
                              std::string_view upper) {
  const std::string_view text = StringAt(object, lower);
  return text.empty() ? StringAt(object, upper) : text;
}

void CheckTaintsAnnotation(FieldErrors& errors, std::string_view text) {
  const Path path("metadata.annotations");
  const auto json = codec::ReadJson(text);
  if (!json) return errors.Invalid(path, kTaintsAnnotation, json.error().message);
  const codec::Array* list = json->value.AsArray();
  if (list == nullptr) {
    return errors.Invalid(path, kTaintsAnnotation,
                          "json: cannot unmarshal a value that is not an array into Go value of "
                          "type []core.Taint");
  }
  codec::Array taints;
  for (const codec::Value& taint : *list) {
    taints.emplace_back(codec::Object{{"key", TextOfEither(taint, "key", "Key")},
                                      {"value", TextOfEither(taint, "value", "Value")},
                                      {"effect", TextOfEither(taint, "effect", "Effect")}});
  }
  CheckTaints(errors, path.Child(kTaintsAnnotation), taints);
}

void CheckAvoidAnnotation(FieldErrors& errors, std::string_view text) {
  const Path path("metadata.annotations");
  const auto json = codec::ReadJson(text);
  if (!json) return errors.Invalid(path.Child("AvoidPods"), kAvoidAnnotation, json.error().message);
  const codec::Array& entries = ArrayAt(json->value, "preferAvoidPods");
  for (size_t i = 0; i < entries.size(); ++i) {
    const Path at = path.Child(kAvoidAnnotation).Index(i).Child("PodSignature");
    if (!HasAt(entries[i], "podSignature", "podController")) {
      errors.Required(at);
    } else if (!BoolAt(entries[i], "podSignature", "podController", "controller")) {
      errors.Invalid(at.Child("PodController").Child("Controller"), false,
                     "must point to a controller");
    }
  }
}

void CheckTaintEffect(FieldErrors& errors, const Path& path, std::string_view effect) {
  if (effect.empty()) return errors.Required(path);
  if (effect == "NoSchedule" || effect == "PreferNoSchedule" || effect == "NoExecute") return;
  errors.NotSupported(path, effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
}

/// Returns a taint as Kubernetes prints it, with the names of its own struct.
codec::Value PrintedTaint(const codec::Value& taint) {
  const codec::Value* added = FindAt(taint, "timeAdded");
  return codec::Object{{"Key", StringAt(taint, "key")},
                       {"Value", StringAt(taint, "value")},
                       {"Effect", StringAt(taint, "effect")},
                       {"TimeAdded", added == nullptr ? codec::Value() : *added}};
}

/// Returns whether a resource is counted in whole numbers: some of Kubernetes' own, and those of
/// other domains.
bool IsIntegerResource(std::string_view name) {
  constexpr auto kOwn = std::to_array<std::string_view>(
      {"pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps",
       "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"});
  if (std::ranges::find(kOwn, name) != kOwn.end()) return true;
  const bool native = name.find('/') == std::string_view::npos ||
                      name.find("kubernetes.io/") != std::string_view::npos;
  return !native && !name.starts_with("requests.") &&
         QualifiedNameProblems(fmt::format("requests.{}", name)).empty();
}

void CheckQuantities(FieldErrors& errors, const Path& path, const codec::Object& resources) {
  for (const codec::Member& resource : resources) {
    const auto quantity = codec::ParseQuantity(Text(&resource.value));
    if (!quantity) continue;  // Objects are canonical.
    const Path at = path.Child(resource.key);
    if (quantity->negative) {
      errors.Invalid(at, quantity->text, "must be greater than or equal to 0");
    }
    if (!quantity->whole && IsIntegerResource(resource.key)) {
      errors.Invalid(at, quantity->text, "must be an integer");
    }
  }
}

/// Returns whether the name is made of segments of letters and digits, separated by slashes, the
/// first of which begins with a capital letter.
bool IsFeatureName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.empty() || name.front() < 'A' || name.front() > 'Z') return false;
  char before = '/';
  for (const char c : name) {
    if (before == '/' && !is_letter(c)) return false;
    if (c != '/' && !is_letter(c) && !base::IsDigit(c)) return false;
    before = c;
  }
  return before != '/';
}

std::string FeatureNameProblem(std::string_view name) {
  if (name.size() > kMaxFeatureName) {
    return fmt::format("invalid feature name {}: must be no more than {} characters",
                       base::GoQuoted(name), kMaxFeatureName);
  }
  if (IsFeatureName(name)) return {};
  return fmt::format(
      "invalid feature name {}: must start with an UpperCamelCase segment, with subsequent "
      "segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only "
      "alphanumeric characters and slashes",
      base::GoQuoted(name));
}

Problems ConfigKeyProblems(std::string_view key) {
  Problems problems;
  if (key.size() > kMaxConfigKey) {
    problems.push_back(fmt::format("must be no more than {} characters", kMaxConfigKey));
  }
  const bool valid = !key.empty() && std::ranges::all_of(key, [](char c) {
    return base::IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
  if (!valid) {
    problems.emplace_back(
        "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
        "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
        "'[-._a-zA-Z0-9]+')");
  }
  if (key == ".") problems.emplace_back("must not be '.'");
  if (key == "..") {
    problems.emplace_back("must not be '..'");
  } else if (key.starts_with("..")) {
    problems.emplace_back("must not start with '..'");
  }
  return problems;
}

void RequireConfigName(FieldErrors& errors, const Path& path, std::string_view name,
                       Problems (*problems_of)(std::string_view)) {
  if (name.empty()) return errors.Required(path);
  errors.InvalidEach(path, name, problems_of(name));
}

enum class ConfigPart : uint8_t { kSpec, kStatus };

void CheckConfigSource(FieldErrors& errors, const Path& path, const codec::Value& source,
                       ConfigPart part) {
  const codec::Value* map = FindAt(source, "configMap");
  if (map == nullptr) {
    return errors.Invalid(path, codec::Object{{"ConfigMap", codec::Value()}},
                          "exactly one reference subfield must be non-nil");
  }
  const Path at = path.Child("configMap");
  for (const std::string_view field : {"uid", "resourceVersion"}) {
    const bool set = !StringAt(*map, field).empty();
    if (part == ConfigPart::kSpec && set) {
      errors.Forbidden(at.Child(field), fmt::format("{} must not be set in spec", field));
    }
    if (part == ConfigPart::kStatus && !set) errors.Required(at.Child(field));
  }
  RequireConfigName(errors, at.Child("namespace"), StringAt(*map, "namespace"),
                    Dns1123LabelProblems);
  RequireConfigName(errors, at.Child("name"), StringAt(*map, "name"), Dns1123SubdomainProblems);
  RequireConfigName(errors, at.Child("kubeletConfigKey"), StringAt(*map, "kubeletConfigKey"),
                    ConfigKeyProblems);
}

}  // namespace

void CheckNodeAnnotations(FieldErrors& errors, const codec::Value& node) {
  const auto text = [&node](std::string_view key) {
    return StringAt(node, "metadata", "annotations", key);
  };
  if (!text(kTaintsAnnotation).empty()) CheckTaintsAnnotation(errors, text(kTaintsAnnotation));
  if (!text(kAvoidAnnotation).empty()) CheckAvoidAnnotation(errors, text(kAvoidAnnotation));
}

void CheckTaints(FieldErrors& errors, const Path& path, const codec::Array& taints) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (size_t i = 0; i < taints.size(); ++i) {
    const Path at = path.Index(i);
    const std::string_view key = StringAt(taints[i], "key");
    const std::string_view effect = StringAt(taints[i], "effect");
    errors.InvalidEach(at.Child("key"), key, QualifiedNameProblems(key));
    const std::string_view value = StringAt(taints[i], "value");
    if (const Problems problems = LabelValueProblems(value); !problems.empty()) {
      errors.Invalid(at.Child("value"), value, fmt::format("{}", fmt::join(problems, ";")));
    }
    CheckTaintEffect(errors, at.Child("effect"), effect);
    if (seen.emplace(key, effect).second) continue;
    errors.Add({.type = FieldErrorType::kDuplicate,
                .field = at.text(),
                .value = PrintedTaint(taints[i]),
                .detail = "taints must be unique by key and effect pair"});
  }
}

void CheckResources(FieldErrors& errors, const codec::Value& node) {
  for (const std::string_view field : {"capacity", "allocatable"}) {
    CheckQuantities(errors, Path("status").Child(field), ObjectAt(node, "status", field));
  }
}

void CheckSwap(FieldErrors& errors, const codec::Value& node) {
  const codec::Value* capacity = FindAt(node, "status", "nodeInfo", "swap", "capacity");
  if (capacity == nullptr || capacity->AsInt().value_or(0) > 0) return;
  errors.Invalid(Path("metadata.nodeSwapStatus.capacity"), *capacity, "must be greater than 0");
}

void CheckDeclaredFeatures(FieldErrors& errors, const codec::Value& node) {
  const Path path("status.declaredFeatures");
  const codec::Array& features = ArrayAt(node, "status", "declaredFeatures");
  for (size_t i = 0; i < features.size(); ++i) {
    const std::string_view name = Text(&features[i]);
    if (const std::string problem = FeatureNameProblem(name); !problem.empty()) {
      errors.Invalid(path.Index(i), name, problem);
    }
    if (i + 1 == features.size()) break;
    const std::string_view next = Text(&features[i + 1]);
    if (name == next) {
      errors.Duplicate(path.Index(i + 1), next);
    } else if (name > next) {
      errors.Invalid(path.Index(i + 1), next, "list must be sorted alphabetically");
    }
  }
}

void CheckPodCidrs(FieldErrors& errors, const codec::Value& node) {
  const Path path("spec.podCIDRs");
  const codec::Array& cidrs = ArrayAt(node, "spec", "podCIDRs");
  std::set<ip::Family> families;
  std::optional<size_t> unreadable;
  for (size_t i = 0; i < cidrs.size(); ++i) {
    const std::string_view text = Text(&cidrs[i]);
    errors.InvalidEach(path.Index(i), text, ip::CidrProblems(text, ip::Strictness::kLegacyField));
    if (const auto parsed = ip::ParseCidrLoose(text)) {
      families.insert(parsed->cidr.family());
    } else if (!unreadable) {
      unreadable = i;
    }
  }
  if (cidrs.size() < 2) return;
  if (unreadable) {
    errors.Internal(path, fmt::format("invalid PodCIDRs. failed to check with dual stack with "
                                      "error:invalid CIDR[{}]: <nil> (invalid CIDR address: {})",
                                      *unreadable, Text(&cidrs[*unreadable])));
  }
  if (unreadable || families.size() < 2 || cidrs.size() > 2) {
    errors.Invalid(path, cidrs, "may specify no more than one CIDR for each IP family");
  }
}

void CheckNodeAddresses(FieldErrors& errors, const codec::Value& node) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const codec::Array& addresses = ArrayAt(node, "status", "addresses");
  for (size_t i = 0; i < addresses.size(); ++i) {
    const std::string_view type = StringAt(addresses[i], "type");
    const std::string_view address = StringAt(addresses[i], "address");
    if (seen.emplace(type, address).second) continue;
    errors.Duplicate(Path("status.addresses").Index(i),
                     codec::Object{{"Type", type}, {"Address", address}});
  }
}

void CheckConfig(FieldErrors& errors, const codec::Value& node) {
  if (const codec::Value* source = FindAt(node, "spec", "configSource")) {
    CheckConfigSource(errors, Path("spec.configSource"), *source, ConfigPart::kSpec);
  }
  for (const std::string_view field : {"assigned", "active", "lastKnownGood"}) {
    if (const codec::Value* source = FindAt(node, "status", "config", field)) {
      CheckConfigSource(errors, Path("status.config").Child(field), *source, ConfigPart::kStatus);
    }
  }
}

}  // namespace berth::rules
