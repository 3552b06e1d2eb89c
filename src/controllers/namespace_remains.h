// What is left in a namespace that is being deleted, and how its status says so: the conditions of
// Kubernetes' namespace controller, word for word, because they are how people find out what holds
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
  std::map<std::string, size_t> finalizers = {};  // In how many objects each is.
  std::vector<std::string> failures = {};         // Why something could not be deleted.

  bool Empty() const { return resources.empty() && failures.empty(); }
};

/// Makes status.conditions say it. The time of a condition changes with its status only.
void SetConditions(codec::Value& name_space, const Remains& remains, base::WallTime now);

/// For the log: the messages of the conditions that are not as they should be.
std::string Describe(const Remains& remains);

/// The finalizer of a namespace's spec that stands for what is in it.
inline constexpr std::string_view kNamespaceFinalizer = "kubernetes";

bool HasNamespaceFinalizer(const codec::Value& name_space);
void DropNamespaceFinalizer(codec::Value& name_space);

/// Whether others than us keep it.
bool HasOtherFinalizers(const codec::Value& name_space);

}  // namespace berth::controllers
