#include "registry/deletion.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "codec/read.h"
#include "codec/timestamp.h"
#include "registry/object_errors.h"

namespace berth::registry {
namespace {

using codec::Value;

/// Unlike the error of an update, this error names the stored Kind, unless the view has names of
/// its own.
base::Error PreconditionFailed(const Target& target, std::string_view why) {
  const bool own_names = target.served.view->name_to_stored != nullptr;
  const api::Kind& kind = own_names ? target.served.Kind() : *target.served.row->kind;
  base::Error error = Conflict(kind, target.name, why);
  error.message = fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", QualifiedKind(kind),
                              target.name, why);
  error.details->kind = kind.kind;
  return error;
}

/// Namespaces have their own wording.
base::Error NamespacePreconditionFailed(const Target& target, std::string_view what,
                                        std::string_view wanted, std::string_view found) {
  return Conflict(
      target.served.Kind(), target.name,
      fmt::format("Precondition failed: {0} in precondition: {1}, {0} in object meta: {2}", what,
                  wanted, found));
}

}  // namespace

bool IsBeingDeleted(const Value& object) {
  return codec::HasAt(object, "metadata", "deletionTimestamp");
}

bool MayBeDeleted(const state::Object& object) { return object.MayHave(R"("deletionTimestamp":)"); }

bool IsBeingDeleted(const Row& row, const state::Object& object) {
  if (!MayBeDeleted(object)) return false;
  const auto value = DecodeWithoutManagedFields(row, object);
  return value && IsBeingDeleted(*value);
}

bool HasSpecFinalizers(const Value& object) {
  return !codec::ArrayAt(object, "spec", "finalizers").empty();
}

bool HasFinalizers(const Row& row, const Value& object) {
  if (!codec::ArrayAt(object, "metadata", "finalizers").empty()) return true;
  return row.strategy.keeps_spec_finalizers && HasSpecFinalizers(object);
}

void MarkDeleted(Value& object, base::WallTime now) {
  if (!IsBeingDeleted(object)) {
    codec::SetAt(object, {"metadata", "deletionTimestamp"}, codec::FormatTime(now));
    const int64_t generation = codec::IntAt(object, "metadata", "generation");
    if (generation > 0) codec::SetAt(object, {"metadata", "generation"}, generation + 1);
  }
  codec::SetAt(object, {"metadata", "deletionGracePeriodSeconds"}, 0);
}

void SetPropagation(Value& object, Propagation propagation) {
  const Value foreground(kForegroundFinalizer);
  const Value orphan(kOrphanFinalizer);
  codec::Array finalizers = codec::ArrayAt(object, "metadata", "finalizers");
  const auto keep = [&finalizers](const Value& finalizer, bool wanted) {
    if (!wanted) {
      std::erase(finalizers, finalizer);
    } else if (std::ranges::find(finalizers, finalizer) == finalizers.end()) {
      finalizers.push_back(finalizer);
    }
  };
  keep(foreground, propagation == Propagation::kForeground);
  keep(orphan, propagation == Propagation::kOrphan);
  if (finalizers.empty()) {
    codec::EraseAt(object, {"metadata", "finalizers"});
  } else {
    codec::SetAt(object, {"metadata", "finalizers"}, std::move(finalizers));
  }
}

bool IsProtectedNamespace(std::string_view name) {
  return name == "default" || name == "kube-system" || name == "kube-public";
}

std::optional<base::Error> CheckPreconditions(const Target& target, const DeleteOptions& remove,
                                              const Value& current) {
  const bool is_namespace = target.served.row->strategy.keeps_spec_finalizers;
  const std::string_view uid = codec::StringAt(current, "metadata", "uid");
  if (remove.uid && *remove.uid != uid) {
    if (is_namespace) return NamespacePreconditionFailed(target, "UID", *remove.uid, uid);
    return PreconditionFailed(
        target, fmt::format("the UID in the precondition ({}) does not match the UID in record "
                            "({}). The object might have been deleted and then recreated",
                            *remove.uid, uid));
  }
  const std::string_view version = codec::StringAt(current, "metadata", "resourceVersion");
  if (remove.resource_version && *remove.resource_version != version) {
    if (is_namespace) {
      return NamespacePreconditionFailed(target, "ResourceVersion", *remove.resource_version,
                                         version);
    }
    return PreconditionFailed(
        target, fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                            "ResourceVersion in record ({}). The object might have been modified",
                            *remove.resource_version, version));
  }
  return std::nullopt;
}

}  // namespace berth::registry
