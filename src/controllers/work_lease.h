// A Lease in kube-system that whoever does a piece of work in the background puts with each of its
// transactions: so two who do the same are in conflict, and others see how far it is. It is an
// object like others, because a write with shared puts must be about one (commit/write.h).
//
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "commit/write.h"
#include "registry/registry.h"
#include "state/snapshot.h"

namespace berth::controllers {

class WorkLease {
 public:
  WorkLease(const registry::Registry& registry, const std::string& name);

  struct Progress {
    std::string phase = {};
    int64_t done = 0;
    base::WallTime since = {};
  };

  const std::string& Key() const { return key_; }
  /// Nothing: nobody has ever begun.
  std::optional<Progress> In(const state::Snapshot& picture) const;
  /// `current` is what there is, if anything.
  commit::Decision Put(const state::ObjectPtr& current, const Progress& progress,
                       const std::string& new_uid) const;

 private:
  const registry::Row& row_;
  const std::string name_;
  const std::string key_;
};

}  // namespace berth::controllers
