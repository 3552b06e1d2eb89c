#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/go_text.h"
#include "codec/json.h"
#include "codec/read.h"
#include "rules/metadata.h"
#include "rules/metadata_parts.h"

namespace berth::rules {
namespace {

/// Formats a slice of strings as Go's %#v does.
std::string GoSyntax(const std::set<std::string>& texts) {
  std::string out = "[]string{";
  for (const std::string& text : texts) {
    if (!out.ends_with('{')) out += ", ";
    out += base::GoQuoted(text);
  }
  return out + "}";
}

void RequireNoNewFinalizers(FieldErrors& errors, const codec::Value& object,
                            const codec::Value& old) {
  const std::set<std::string_view> before = TextSet(ArrayAt(old, "metadata", "finalizers"));
  std::set<std::string> added;
  for (std::string& finalizer : Texts(ArrayAt(object, "metadata", "finalizers"))) {
    if (!before.contains(finalizer)) added.insert(std::move(finalizer));
  }
  if (added.empty()) return;
  errors.Forbidden(Path("metadata.finalizers"),
                   fmt::format("no new finalizers can be added if the object is being deleted, "
                               "found new finalizers {}",
                               GoSyntax(added)));
}

/// Compares fields that are strings in Go, where empty and absent are equal.
void RequireSameText(FieldErrors& errors, const codec::Value& object, const codec::Value& old,
                     std::string_view field) {
  const std::string_view now = StringAt(object, "metadata", field);
  if (now == StringAt(old, "metadata", field)) return;
  errors.Invalid(Path("metadata").Child(field), now, "field is immutable");
}

}  // namespace

void RequireUnchanged(FieldErrors& errors, const Path& path, const codec::Value* now,
                      const codec::Value* before) {
  const codec::Value none;
  const codec::Value& left = now == nullptr ? none : *now;
  const codec::Value& right = before == nullptr ? none : *before;
  if (left != right) errors.Invalid(path, left, "field is immutable");
}

void PrepareCreatedMetadata(codec::Value& object) {
  for (const std::string_view field : {"uid", "creationTimestamp", "deletionTimestamp",
                                       "deletionGracePeriodSeconds", "selfLink"}) {
    EraseAt(object, {"metadata", field});
  }
}

void PrepareUpdatedMetadata(codec::Value& object, const codec::Value& old) {
  if (StringAt(object, "metadata", "uid").empty()) CopyAt(object, old, {"metadata", "uid"});
  CopyAt(object, old, {"metadata", "creationTimestamp"});
  CopyAt(object, old, {"metadata", "generation"});
  EraseAt(object, {"metadata", "selfLink"});
  if (FindAt(old, "metadata", "deletionTimestamp") != nullptr) {
    CopyAt(object, old, {"metadata", "deletionTimestamp"});
  }
  if (FindAt(object, "metadata", "deletionGracePeriodSeconds") == nullptr) {
    CopyAt(object, old, {"metadata", "deletionGracePeriodSeconds"});
  }
}

std::optional<std::string> DropRepeatedOwners(codec::Value& object) {
  codec::Value* references = FindAt(object, "metadata", "ownerReferences");
  codec::Array* owners = references == nullptr ? nullptr : references->AsArray();
  if (owners == nullptr) return std::nullopt;
  codec::Array kept;
  std::vector<std::string> repeated;
  std::set<std::string> seen;  // By text: comparing each pair would take too long.
  for (codec::Value& owner : *owners) {
    if (seen.insert(codec::WriteJson(owner)).second) {
      kept.push_back(std::move(owner));
    } else {
      repeated.emplace_back(StringAt(owner, "uid"));
    }
  }
  *owners = std::move(kept);
  if (repeated.empty()) return std::nullopt;
  return fmt::format(
      ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in "
      "1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate "
      "UID(s) observed: {}",
      fmt::join(repeated, ", "));
}

FieldErrors ValidateMetadataUpdate(const codec::Value& object, const codec::Value& old,
                                   FinalizerRule finalizers) {
  FieldErrors errors;
  if (FindAt(old, "metadata", "deletionTimestamp") != nullptr) {
    RequireNoNewFinalizers(errors, object, old);
  }
  if (StringAt(object, "metadata", "resourceVersion").empty()) {
    errors.Invalid(Path("metadata.resourceVersion"), "", "must be specified for an update");
  }
  const int64_t generation = IntAt(object, "metadata", "generation");
  if (generation < IntAt(old, "metadata", "generation")) {
    errors.Invalid(Path("metadata.generation"), generation, "must not be decremented");
  }
  for (const std::string_view field : {"name", "namespace", "uid"}) {
    RequireSameText(errors, object, old, field);
  }
  for (const std::string_view field :
       {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    RequireUnchanged(errors, Path("metadata").Child(field), FindAt(object, "metadata", field),
                     FindAt(old, "metadata", field));
  }
  errors.Append(ValidateMetadataMaps(object));
  errors.Append(ValidateManagedEntries(object));
  RequireKnownFinalizers(errors, object, finalizers);
  return errors;
}

FieldErrors ValidateUpdatedMetadata(const codec::Value& object, const codec::Value& old,
                                    Scope scope) {
  FieldErrors errors = ValidateCreatedMetadata(object, scope);
  errors.Append(ValidateMetadataUpdate(object, old, FinalizerRule::kAny));
  return errors;
}

}  // namespace berth::rules
