// The Lease of a background job, in kube-system. A job of many transactions puts it with each of
// them: so two servers that do the same job conflict, and others can see its progress. It is an
// ordinary object, because a write with shared puts must have one (commit/write.h). A job that one
// server does all the time notes there which server it is (controllers/job_lease.h).
//
// Pure. Threads: any.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "codec/value.h"
#include "commit/write.h"
#include "registry/registry.h"
#include "state/snapshot.h"

namespace berth::allocation {

class WorkLease {
 public:
  WorkLease(const registry::Registry& registry, const std::string& name);

  struct Progress {
    std::string phase = {};  // Empty if the job has no phases.
    int64_t done = 0;
    base::WallTime since = {};
    std::string holder = "berth";  // Who does the job, if one server does it all the time.
  };

  const std::string& Key() const { return key_; }
  registry::Target Target() const;
  /// Returns the progress, or nullopt if the job has never begun.
  std::optional<Progress> In(const state::Snapshot& snapshot) const;
  /// Writes the progress into a Lease.
  static void Note(const Progress& progress, codec::Value& lease);
  /// Returns the decision that puts the Lease. `current` is the existing Lease, or null.
  commit::Decision Put(const state::ObjectPtr& current, const Progress& progress,
                       const std::string& new_uid) const;

 private:
  const registry::Row& row_;
  const std::string name_;
  const std::string key_;
};

}  // namespace berth::allocation
