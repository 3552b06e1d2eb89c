#include "rules/namespace.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/read.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

constexpr std::string_view kNameLabel = "kubernetes.io/metadata.name";
constexpr std::string_view kNamespaceFinalizer = "kubernetes";

/// Sets the label that selects a namespace by its name, whatever the client sent for it.
void LabelWithName(codec::Value& object) {
  const std::string name(StringAt(object, "metadata", "name"));
  if (!name.empty()) SetAt(object, {"metadata", "labels", kNameLabel}, name);
}

void RequireValidFinalizers(FieldErrors& errors, const codec::Value& object, bool indexed) {
  const Path path("spec.finalizers");
  const std::vector<std::string> finalizers = Texts(ArrayAt(object, "spec", "finalizers"));
  for (size_t i = 0; i < finalizers.size(); ++i) {
    const Path at = indexed ? path.Index(i) : path;
    errors.InvalidEach(at, finalizers[i], QualifiedNameProblems(finalizers[i]));
    RequireKnownFinalizer(errors, at, finalizers[i]);
  }
}

}  // namespace

void DefaultNamespace(codec::Value& object) {
  LabelWithName(object);
  if (StringAt(object, "status", "phase").empty()) SetAt(object, {"status", "phase"}, "Active");
}

void PrepareNamespaceCreate(codec::Value& object) {
  LabelWithName(object);
  SetAt(object, {"status"}, codec::Object{{"phase", "Active"}});
  codec::Array finalizers = ArrayAt(object, "spec", "finalizers");
  if (std::ranges::find(finalizers, codec::Value(kNamespaceFinalizer)) == finalizers.end()) {
    finalizers.emplace_back(kNamespaceFinalizer);
  }
  SetAt(object, {"spec", "finalizers"}, std::move(finalizers));
}

void PrepareNamespaceUpdate(codec::Value& object, const codec::Value& old) {
  LabelWithName(object);
  CopyAt(object, old, {"spec", "finalizers"});
  CopyAt(object, old, {"status"});
}

void PrepareNamespaceStatusUpdate(codec::Value& object, const codec::Value& old) {
  LabelWithName(object);
  CopyAt(object, old, {"spec"});
}

void PrepareNamespaceFinalize(codec::Value& object, const codec::Value& old) {
  LabelWithName(object);
  CopyAt(object, old, {"status"});
}

FieldErrors ValidateNamespaceCreate(const codec::Value& object) {
  FieldErrors errors =
      ValidateMetadata(object, Scope::kCluster, NameIsDnsLabel, FinalizerRule::kCore);
  RequireValidFinalizers(errors, object, false);
  return errors;
}

FieldErrors ValidateNamespaceUpdate(const codec::Value& object, const codec::Value& old) {
  return ValidateMetadataUpdate(object, old, FinalizerRule::kCore);
}

FieldErrors ValidateNamespaceStatusUpdate(const codec::Value& object, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(object, old, FinalizerRule::kCore);
  const std::string_view phase = StringAt(object, "status", "phase");
  if (FindAt(object, "metadata", "deletionTimestamp") == nullptr) {
    if (phase != "Active") {
      errors.Invalid(Path("status.Phase"), phase,
                     "may only be 'Active' if `deletionTimestamp` is empty");
    }
  } else if (phase != "Terminating") {
    errors.Invalid(Path("status.Phase"), phase,
                   "may only be 'Terminating' if `deletionTimestamp` is not empty");
  }
  return errors;
}

FieldErrors ValidateNamespaceFinalize(const codec::Value& object, const codec::Value& old) {
  FieldErrors errors = ValidateMetadataUpdate(object, old, FinalizerRule::kCore);
  RequireValidFinalizers(errors, object, true);
  return errors;
}

}  // namespace berth::rules
