// What is left in a namespace that is being deleted, and the conditions that say so. They are those
// of Kubernetes' namespace controller, word for word, because operators use them to see what holds
// a namespace. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "codec/value.h"

namespace berth::controllers {

struct Remains {
  std::map<std::string, size_t> resources = {};   // "services.", "leases.coordination.k8s.io".
  std::map<std::string, size_t> finalizers = {};  // The number of objects that have each.
  std::vector<std::string> failures = {};         // Why an object could not be deleted.

  bool Empty() const { return resources.empty() && failures.empty(); }
};

/// Sets status.conditions. The time of a condition changes only with its status.
void SetConditions(codec::Value& name_space, const Remains& remains, base::WallTime now);

/// Returns, for the log, the messages of the conditions that report a problem.
std::string Describe(const Remains& remains);

/// The finalizer in a namespace's spec that stands for its contents.
inline constexpr std::string_view kNamespaceFinalizer = "kubernetes";

bool HasNamespaceFinalizer(const codec::Value& name_space);
void DropNamespaceFinalizer(codec::Value& name_space);

/// Returns whether finalizers of others keep the namespace.
bool HasOtherFinalizers(const codec::Value& name_space);

}  // namespace berth::controllers
