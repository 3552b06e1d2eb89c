// Deletion of an object: its finalizers and the preconditions of the client. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "codec/value.h"
#include "registry/registry.h"

namespace berth::registry {

/// Finalizers about dependents. With the first, dependents are deleted before the object. With the
/// second, they stay and lose their owner.
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

bool IsBeingDeleted(const codec::Value& object);

/// Returns false if the object of a snapshot is certainly not being deleted. It looks at the text
/// without decoding it, so true means only that it may be.
bool MayBeDeleted(const state::Object& object);
bool IsBeingDeleted(const Row& row, const state::Object& object);

/// Returns whether finalizers in the spec still keep the object, as the contents of a namespace do.
bool HasSpecFinalizers(const codec::Value& object);

/// Returns whether any finalizer still keeps the object.
bool HasFinalizers(const Row& row, const codec::Value& object);

/// Marks the object as being deleted from now on, if it was not before. It is removed as soon as it
/// has no finalizers.
void MarkDeleted(codec::Value& object, base::WallTime now);

/// Sets which finalizer about dependents the object has: the one for the propagation, or none.
void SetPropagation(codec::Value& object, Propagation propagation);

/// Returns whether the namespace is one of those that every cluster has.
bool IsProtectedNamespace(std::string_view name);

/// Returns the precondition that does not hold, or nullopt if all hold.
std::optional<base::Error> CheckPreconditions(const Target& target, const DeleteOptions& remove,
                                              const codec::Value& current);

}  // namespace berth::registry
