// The hooks of Services: a write of a Service takes the addresses and ports that it claims, and
// releases those that it no longer has, in the Service's own transaction. A delete ends the
// Endpoints of the same name too.
//
// Threads: every function may be called from any thread.
#pragma once

#include <memory>

#include "allocation/addresses.h"
#include "base/clock.h"
#include "registry/hooks.h"

namespace berth::allocation {

class ServiceHooks final : public registry::KindHooks {
 public:
  /// All must outlive it. `endpoints` is the row of Endpoints.
  ServiceHooks(Addresses& addresses, const registry::Row& endpoints, const base::Clock& clock)
      : addresses_(addresses), endpoints_(endpoints), clock_(clock) {}

  std::shared_ptr<registry::WriteHooks> Begin(const registry::Target& target,
                                              const registry::CommonOptions& options) override;

 private:
  Addresses& addresses_;
  const registry::Row& endpoints_;
  const base::Clock& clock_;
};

}  // namespace berth::allocation
