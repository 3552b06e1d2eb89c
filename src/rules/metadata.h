// The rules of `metadata` that hold for every kind, and those a kind adds with its name rule.
//
// How they are put together, because the number of causes a client gets depends on it:
//   create: the kind's Validate...Create; if that found nothing, ValidateCreatedMetadata.
//   update: ValidateUpdatedMetadata followed by the kind's Validate...Update, in one list.
// Functions named Prepare... change the object first. Pure: uid and time are the caller's.
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

/// Kinds of the core group also want a finalizer without a domain to be one of Kubernetes' own.
enum class FinalizerRule : uint8_t { kAny, kCore };

inline constexpr size_t kMaxAnnotationBytes = size_t{256} * 1024;

/// Removes what only the server sets: uid, creationTimestamp, deletionTimestamp,
/// deletionGracePeriodSeconds, selfLink. generation stays: kinds that count it set it themselves.
void PrepareCreatedMetadata(codec::Value& object);

/// Restores what an update cannot change: creationTimestamp and generation, uid if none is given,
/// deletionTimestamp and its grace period once set.
void PrepareUpdatedMetadata(codec::Value& object, const codec::Value& old);

/// Removes repeated owner references; the warning to send, if there were any.
std::optional<std::string> DropRepeatedOwners(codec::Value& object);

/// What a kind checks of its metadata on create.
FieldErrors ValidateMetadata(const codec::Value& object, Scope scope, NameRule name_rule,
                             FinalizerRule finalizers);

/// What a kind checks of its metadata on update.
FieldErrors ValidateMetadataUpdate(const codec::Value& object, const codec::Value& old,
                                   FinalizerRule finalizers);

/// What the server checks of every object on create, after the kind's own rules.
FieldErrors ValidateCreatedMetadata(const codec::Value& object, Scope scope);

/// What the server checks of every object on update, before the kind's own rules.
FieldErrors ValidateUpdatedMetadata(const codec::Value& object, const codec::Value& old,
                                    Scope scope);

/// Keys and values of a map of labels; all errors have the map's path.
FieldErrors ValidateLabels(const codec::Object& labels, const Path& path);

/// The name of a field manager, of a request or in managedFields: not too long, nothing in it that
/// cannot be seen. `path` is asked only when there is something to say, since every write has one.
void RequireFieldManager(FieldErrors& errors, std::string_view manager,
                         const std::function<Path()>& path);

/// Invalid with "field is immutable" if the two differ; a null value is an absent field.
void RequireUnchanged(FieldErrors& errors, const Path& path, const codec::Value* now,
                      const codec::Value* before);

/// `metadata.finalizers` and `spec.finalizers` of a Namespace: a name without a domain must be one
/// of Kubernetes' own.
void RequireKnownFinalizer(FieldErrors& errors, const Path& path, std::string_view finalizer);

}  // namespace berth::rules
