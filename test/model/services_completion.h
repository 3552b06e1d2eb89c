// The part of the reference model that does not depend on taken values: how a Service looks once
// its missing fields are filled in, and whether that is valid.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/services_world.h"
#include "registry/kind_rows.h"

namespace berth::model {

/// Returns the completed Service, or nullopt if it is invalid. `old` is null for a new Service, and
/// `families` are those that have ranges. Addresses and numbers that are still to be allocated are
/// empty or 0.
std::optional<Service> Complete(Service asked, const Service* old,
                                const std::vector<std::string>& families,
                                const registry::Gates& gates);

/// Returns whether an update adds finalizers. An object that is being deleted gets no new ones.
bool AddsFinalizers(const Service& next, const Service& old);

/// Returns whether an update repeats the address of the Service as its second one.
bool TakesOwnAddress(const Service& next, const Service& old);

}  // namespace berth::model
