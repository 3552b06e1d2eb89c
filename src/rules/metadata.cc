#include "rules/metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/go_text.h"
#include "codec/read.h"
#include "rules/metadata_parts.h"

namespace berth::rules {
namespace {

constexpr std::string_view kOrphan = "orphan";
constexpr std::string_view kForeground = "foregroundDeletion";
constexpr size_t kMaxManager = 128;
constexpr size_t kMaxSubresource = 256;
// A limit, because each of these errors prints the whole list.
constexpr size_t kMostControllerErrors = 10;

FieldErrors ValidateAnnotations(const codec::Object& annotations, const Path& path) {
  FieldErrors errors;
  size_t bytes = 0;
  for (const codec::Member& annotation : annotations) {
    // Keys follow the rule of label keys, except that prefixes may be in upper case.
    errors.InvalidEach(path, annotation.key,
                       QualifiedNameProblems(base::InLowerCase(annotation.key)));
    bytes += annotation.key.size() + Text(&annotation.value).size();
  }
  if (bytes > kMaxAnnotationBytes) errors.TooLong(path, kMaxAnnotationBytes);
  return errors;
}

struct GroupVersion {
  std::string_view group;
  std::string_view version;
};

GroupVersion SplitApiVersion(std::string_view api_version) {
  const size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {.group = {}, .version = api_version};
  // Text with more than one slash has no valid version.
  if (api_version.find('/', slash + 1) != std::string_view::npos) return {};
  return {.group = api_version.substr(0, slash), .version = api_version.substr(slash + 1)};
}

void ValidateOwner(FieldErrors& errors, const codec::Value& owner, const Path& path) {
  const std::string_view api_version = StringAt(owner, "apiVersion");
  const std::string_view kind = StringAt(owner, "kind");
  const GroupVersion version = SplitApiVersion(api_version);
  if (version.version.empty()) {
    errors.Invalid(path.Child("apiVersion"), api_version, "version must not be empty");
  }
  if (kind.empty()) errors.Invalid(path.Child("kind"), kind, "must not be empty");
  for (const std::string_view field : {"name", "uid"}) {
    if (StringAt(owner, field).empty()) errors.Invalid(path.Child(field), "", "must not be empty");
  }
  if (version.group.empty() && version.version == "v1" && kind == "Event") {
    errors.Invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner");
  }
}

FieldErrors ValidateOwners(const codec::Value& object, const Path& path) {
  FieldErrors errors;
  std::string controller;
  size_t more_controllers = 0;
  for (const codec::Value& owner : ArrayAt(object, "metadata", "ownerReferences")) {
    ValidateOwner(errors, owner, path);
    if (!BoolAt(owner, "controller")) continue;
    std::string name = fmt::format("{}/{}", StringAt(owner, "kind"), StringAt(owner, "name"));
    if (controller.empty()) {
      controller = std::move(name);
    } else if (++more_controllers <= kMostControllerErrors) {
      errors.Invalid(path, *FindAt(object, "metadata", "ownerReferences"),
                     fmt::format("Only one reference can have Controller set to true. Found "
                                 "\"true\" in references for {} and {}",
                                 controller, name));
    }
  }
  return errors;
}

FieldErrors ValidateFinalizers(const codec::Value& object, const Path& path) {
  FieldErrors errors;
  bool orphan = false;
  bool foreground = false;
  for (const std::string& finalizer : Texts(ArrayAt(object, "metadata", "finalizers"))) {
    errors.InvalidEach(path, finalizer, QualifiedNameProblems(finalizer));
    orphan = orphan || finalizer == kOrphan;
    foreground = foreground || finalizer == kForeground;
  }
  if (orphan && foreground) {
    errors.Invalid(path, *FindAt(object, "metadata", "finalizers"),
                   "finalizer orphan and foregroundDeletion cannot be both set");
  }
  return errors;
}

// Every write has such entries, so the path is built only if there is an error to report.
void ValidateManagedEntry(FieldErrors& errors, const codec::Value& entry,
                          const std::function<Path(std::string_view)>& at) {
  const std::string_view operation = StringAt(entry, "operation");
  if (operation.empty()) {
    errors.Required(at("operation"), "must not be empty");
  } else if (operation != "Apply" && operation != "Update") {
    errors.NotSupported(at("operation"), operation, {"Apply", "Update"});
  }
  const std::string_view type = StringAt(entry, "fieldsType");
  if (!type.empty() && type != "FieldsV1") {
    errors.Invalid(at("fieldsType"), type, "must be `FieldsV1`");
  }
  RequireFieldManager(errors, StringAt(entry, "manager"), [&at] { return at("manager"); });
  if (StringAt(entry, "subresource").size() > kMaxSubresource) {
    errors.TooLong(at("subresource"), kMaxSubresource);
  }
}

void ValidateName(FieldErrors& errors, const codec::Value& object, NameRule rule) {
  const Path path("metadata");
  if (const std::string_view base = StringAt(object, "metadata", "generateName"); !base.empty()) {
    errors.InvalidEach(path.Child("generateName"), base, rule(base, true));
  }
  if (const std::string_view name = StringAt(object, "metadata", "name"); name.empty()) {
    errors.Required(path.Child("name"), "name or generateName is required");
  } else {
    errors.InvalidEach(path.Child("name"), name, rule(name, false));
  }
}

void ValidateNamespace(FieldErrors& errors, const codec::Value& object, Scope scope) {
  const Path path("metadata.namespace");
  const std::string_view name = StringAt(object, "metadata", "namespace");
  if (scope == Scope::kCluster) {
    if (!name.empty()) errors.Forbidden(path, "not allowed on this type");
  } else if (name.empty()) {
    errors.Required(path);
  } else {
    errors.InvalidEach(path, name, Dns1123LabelProblems(name));
  }
}

}  // namespace

FieldErrors ValidateLabels(const codec::Object& labels, const Path& path) {
  FieldErrors errors;
  for (const codec::Member& label : labels) {
    errors.InvalidEach(path, label.key, QualifiedNameProblems(label.key));
    const std::string_view value = Text(&label.value);
    errors.InvalidEach(path, value, LabelValueProblems(value));
  }
  return errors;
}

FieldErrors ValidateMetadataMaps(const codec::Value& object) {
  const Path path("metadata");
  FieldErrors errors = ValidateLabels(ObjectAt(object, "metadata", "labels"), path.Child("labels"));
  errors.Append(
      ValidateAnnotations(ObjectAt(object, "metadata", "annotations"), path.Child("annotations")));
  errors.Append(ValidateOwners(object, path.Child("ownerReferences")));
  return errors;
}

void RequireFieldManager(FieldErrors& errors, std::string_view manager,
                         const std::function<Path()>& path) {
  if (manager.size() > kMaxManager) errors.TooLong(path(), kMaxManager);
  for (size_t start = 0; const auto found = base::FirstInvisible(manager.substr(start));) {
    errors.Invalid(path(), manager,
                   fmt::format("invalid character U+{:04X} (at position {})",
                               static_cast<uint32_t>(found->value), start + found->position));
    start += found->position + 1;
  }
}

FieldErrors ValidateManagedEntries(const codec::Value& object) {
  FieldErrors errors;
  const codec::Array& entries = ArrayAt(object, "metadata", "managedFields");
  for (size_t i = 0; i < entries.size(); ++i) {
    ValidateManagedEntry(errors, entries[i], [i](std::string_view field) {
      return Path("metadata.managedFields").Index(i).Child(field);
    });
  }
  return errors;
}

void RequireKnownFinalizer(FieldErrors& errors, const Path& path, std::string_view finalizer) {
  constexpr auto kKnown = std::to_array<std::string_view>({"kubernetes", kForeground, kOrphan});
  if (finalizer.find('/') != std::string_view::npos) return;
  if (std::ranges::find(kKnown, finalizer) != kKnown.end()) return;
  errors.Invalid(path, finalizer,
                 "name is neither a standard finalizer name nor is it fully qualified");
}

void RequireKnownFinalizers(FieldErrors& errors, const codec::Value& object, FinalizerRule rule) {
  if (rule == FinalizerRule::kAny) return;
  const std::vector<std::string> finalizers = Texts(ArrayAt(object, "metadata", "finalizers"));
  for (size_t i = 0; i < finalizers.size(); ++i) {
    RequireKnownFinalizer(errors, Path("metadata.finalizers").Index(i), finalizers[i]);
  }
}

FieldErrors ValidateMetadata(const codec::Value& object, Scope scope, NameRule name_rule,
                             FinalizerRule finalizers) {
  FieldErrors errors;
  ValidateName(errors, object, name_rule);
  ValidateNamespace(errors, object, scope);
  if (const int64_t generation = IntAt(object, "metadata", "generation"); generation < 0) {
    errors.Invalid(Path("metadata.generation"), generation, "must be greater than or equal to 0");
  }
  errors.Append(ValidateMetadataMaps(object));
  errors.Append(ValidateFinalizers(object, Path("metadata.finalizers")));
  errors.Append(ValidateManagedEntries(object));
  RequireKnownFinalizers(errors, object, finalizers);
  return errors;
}

FieldErrors ValidateCreatedMetadata(const codec::Value& object, Scope scope) {
  return ValidateMetadata(object, scope, NameIsPathSegment, FinalizerRule::kAny);
}

}  // namespace berth::rules
