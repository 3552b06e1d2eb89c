// The rules for `metadata` that apply to every kind, and those that a kind adds with its name rule.
//
// The number of causes that a client gets depends on how they are combined:
//   create: the kind's Validate...Create; if that finds no error, ValidateCreatedMetadata.
//   update: ValidateUpdatedMetadata followed by the kind's Validate...Update, in one list.
// Functions named Prepare... change the object first. Pure: the caller provides uid and time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "codec/value.h"
#include "rules/field_error.h"
#include "rules/names.h"

namespace berth::rules {

enum class Scope : uint8_t { kCluster, kNamespaced };

/// Kinds of the core group also require a finalizer without a domain to be one of Kubernetes' own.
enum class FinalizerRule : uint8_t { kAny, kCore };

inline constexpr size_t kMaxAnnotationBytes = size_t{256} * 1024;

/// Removes the fields that only the server sets: uid, creationTimestamp, deletionTimestamp,
/// deletionGracePeriodSeconds, selfLink. It keeps generation, because kinds that count it set it
/// themselves.
void PrepareCreatedMetadata(codec::Value& object);

/// Restores the fields that an update cannot change: creationTimestamp and generation; uid if the
/// client sent none; deletionTimestamp and its grace period once they are set.
void PrepareUpdatedMetadata(codec::Value& object, const codec::Value& old);

/// Removes repeated owner references. Returns the warning to send, or nullopt if there were no
/// repeats.
std::optional<std::string> DropRepeatedOwners(codec::Value& object);

/// Returns the errors that a kind finds in its metadata on create.
FieldErrors ValidateMetadata(const codec::Value& object, Scope scope, NameRule name_rule,
                             FinalizerRule finalizers);

/// Returns the errors that a kind finds in its metadata on update.
FieldErrors ValidateMetadataUpdate(const codec::Value& object, const codec::Value& old,
                                   FinalizerRule finalizers);

/// Returns the errors that the server finds in every object on create, after the kind's own rules.
FieldErrors ValidateCreatedMetadata(const codec::Value& object, Scope scope);

/// Returns the errors that the server finds in every object on update, before the kind's own rules.
FieldErrors ValidateUpdatedMetadata(const codec::Value& object, const codec::Value& old,
                                    Scope scope);

/// Checks keys and values of a map of labels. All errors have the path of the map.
FieldErrors ValidateLabels(const codec::Object& labels, const Path& path);

/// Checks the name of a field manager, in a request or in managedFields: it must not be too long or
/// contain unprintable characters. `path` is called only if there is an error to report, because
/// every write has a manager.
void RequireFieldManager(FieldErrors& errors, std::string_view manager,
                         const std::function<Path()>& path);

/// Adds an Invalid with "field is immutable" if the two differ. A null pointer stands for an absent
/// field.
void RequireUnchanged(FieldErrors& errors, const Path& path, const codec::Value* now,
                      const codec::Value* before);

/// Checks `metadata.finalizers` and `spec.finalizers` of a Namespace: a name without a domain must
/// be one of Kubernetes' own.
void RequireKnownFinalizer(FieldErrors& errors, const Path& path, std::string_view finalizer);

}  // namespace berth::rules
