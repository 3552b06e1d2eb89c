// The registration of this server as a Replica: an object that says what the server runs and can
// do, and in what it differs from other replicas. The store removes it if the server does not renew
// it, and the server creates it again if it is gone too early. Another replica reads it before it
// changes ranges in a way that this one could not serve.
//
// Threads: that of the controllers.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "allocation/records.h"
#include "base/clock.h"
#include "codec/value.h"
#include "controllers/controller_context.h"
#include "controllers/controller_feed.h"
#include "registry/kind_rows.h"

namespace berth::controllers {

struct ReplicaFacts {
  std::string id = {};  // Its name, unique for all time. Empty if it is not registered.
  std::string version = {};
  std::string address = {};  // Host and port.
  /// Where other machines reach it. Empty if they cannot.
  std::string advertised = {};
  uint16_t port = 0;
  registry::Gates gates = {};
};

codec::Value ReplicaOf(const ReplicaFacts& facts, base::WallTime now);

/// Deletes the replica's object when the server ends, so that others need not wait until it
/// expires. Waits for that, at most as long as `limit`.
void Unregister(registry::Registry& registry, const ReplicaFacts& facts,
                std::chrono::nanoseconds limit);

class ReplicaRegister final : public Reader {
 public:
  ReplicaRegister(const Context& context, ReplicaFacts facts);

  void Begin() override {}
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  bool Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  /// Creates or renews the object. `stored` is the existing one, or null.
  void Write(const state::ObjectPtr& stored);
  /// Notes and logs what is new about the differences from other replicas.
  void Tell(std::vector<std::string> skew);

  Context context_;
  const ReplicaFacts facts_;
  const allocation::RecordRows rows_;
  base::SteadyTime due_;
  bool look_ = true;                    // Replicas have changed since the last comparison.
  std::vector<std::string> skew_ = {};  // As the object says it, or as it was last written.
};

}  // namespace berth::controllers
