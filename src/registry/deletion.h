// What it means for an object to be deleted: its finalizers, and who may say so. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "codec/value.h"
#include "registry/registry.h"

namespace berth::registry {

/// Finalizers that speak of dependents: they go first, or stay and lose their owner.
inline constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
inline constexpr std::string_view kOrphanFinalizer = "orphan";

bool IsBeingDeleted(const codec::Value& object);

/// Whether an object of the picture may be: without decoding, the text alone does not tell for
/// sure.
bool MayBeDeleted(const state::Object& object);
bool IsBeingDeleted(const Row& row, const state::Object& object);

/// Of a namespace: whether what is in it still holds it.
bool HasSpecFinalizers(const codec::Value& object);

/// Whether somebody has still to agree that it goes.
bool HasFinalizers(const Row& row, const codec::Value& object);

/// It is being deleted from now on, if it was not before, and goes as soon as nobody holds it.
void MarkDeleted(codec::Value& object, base::WallTime now);

/// Of the finalizers that speak of dependents it has the one that is asked for afterwards, or none.
void SetPropagation(codec::Value& object, Propagation propagation);

/// Those every cluster has.
bool IsProtectedNamespace(std::string_view name);

/// What of the preconditions does not hold.
std::optional<base::Error> CheckPreconditions(const Target& target, const DeleteOptions& remove,
                                              const codec::Value& current);

}  // namespace berth::registry
