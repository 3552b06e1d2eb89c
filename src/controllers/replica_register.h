// This server among the replicas: an object that says what it runs and what it can do, and that
// vanishes when nobody renews it any more. Another replica looks at it before it changes ranges in
// a way that this one could not honour.
//
// Threads: the controllers' one.
#pragma once

#include <chrono>
#include <string>

#include "base/clock.h"
#include "codec/value.h"
#include "controllers/context.h"
#include "registry/kinds.h"

namespace berth::controllers {

struct ReplicaFacts {
  std::string id = {};  // Its name, unique among all that ever were; empty: it is not to be seen.
  std::string version = {};
  std::string address = {};  // Host and port.
  registry::Gates gates = {};
};

codec::Value ReplicaOf(const ReplicaFacts& facts, base::WallTime now);

/// It ends, and nobody has to wait until its object vanishes. Waits for that, for so long at most.
void Unregister(registry::Registry& registry, const ReplicaFacts& facts,
                std::chrono::nanoseconds limit);

class ReplicaRegister {
 public:
  ReplicaRegister(const Context& context, ReplicaFacts facts);

  bool Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  Context context_;
  const ReplicaFacts facts_;
  base::SteadyTime due_;
};

}  // namespace berth::controllers
