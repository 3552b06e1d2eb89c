// The part of the reference model that does not look at what is taken: what a Service is once all
// that was left out is filled in, and whether it may be so.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/services_world.h"
#include "registry/kinds.h"

namespace berth::model {

/// `old` is null for a new one, `families` are those of which there are ranges. Nothing: it is
/// invalid. Addresses and numbers that are still to be had are empty or 0.
std::optional<Service> Complete(Service asked, const Service* old,
                                const std::vector<std::string>& families,
                                const registry::Gates& gates);

/// What is being deleted gets no new ones.
bool AddsFinalizers(const Service& next, const Service& old);

/// The address that it has, once more as its second one.
bool TakesOwnAddress(const Service& next, const Service& old);

}  // namespace berth::model
