#include "registry/deletion.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "codec/read.h"
#include "registry/errors.h"

namespace berth::registry {
namespace {

using codec::Value;

/// Unlike an update's it names the Kind.
base::Error PreconditionFailed(const Target& target, std::string_view why) {
  const std::string kind = QualifiedKind(target.served.Kind());
  base::Error error = Conflict(target.served.Kind(), target.name, why);
  error.message =
      fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", kind, target.name, why);
  error.details->kind = kind;
  return error;
}

}  // namespace

bool IsBeingDeleted(const Value& object) {
  return codec::HasAt(object, "metadata", "deletionTimestamp");
}

bool MayBeDeleted(const state::Object& object) {
  // A quote inside a JSON string has a backslash before it, so it is found only as a key; but a
  // label may have that key too. The C library's search is several times faster than the
  // standard's.
  constexpr std::string_view kMember = R"("deletionTimestamp":)";
  const std::string_view text = object.TextWithoutManagedFields();
  return memmem(text.data(), text.size(), kMember.data(), kMember.size()) != nullptr;
}

bool IsBeingDeleted(const Row& row, const state::Object& object) {
  if (!MayBeDeleted(object)) return false;
  const auto value = DecodeWithoutManagedFields(row, object);
  return value && IsBeingDeleted(*value);
}

bool HasFinalizers(const Row& row, const Value& object) {
  if (!codec::ArrayAt(object, "metadata", "finalizers").empty()) return true;
  return row.strategy.keeps_spec_finalizers &&
         !codec::ArrayAt(object, "spec", "finalizers").empty();
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
  const std::string_view uid = codec::StringAt(current, "metadata", "uid");
  if (remove.uid && *remove.uid != uid) {
    return PreconditionFailed(
        target, fmt::format("the UID in the precondition ({}) does not match the UID in record "
                            "({}). The object might have been deleted and then recreated",
                            *remove.uid, uid));
  }
  const std::string_view version = codec::StringAt(current, "metadata", "resourceVersion");
  if (remove.resource_version && *remove.resource_version != version) {
    return PreconditionFailed(
        target, fmt::format("the ResourceVersion in the precondition ({}) does not match the "
                            "ResourceVersion in record ({}). The object might have been modified",
                            *remove.resource_version, version));
  }
  return std::nullopt;
}

}  // namespace berth::registry
