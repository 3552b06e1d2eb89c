// Creates the namespaces that every cluster has again if one of them is gone. Only kube-node-lease
// can be deleted by clients.
//
// Threads: that of the controllers.
#pragma once

#include <array>
#include <string_view>

#include "base/clock.h"
#include "controllers/controller_context.h"
#include "controllers/controller_feed.h"

namespace berth::controllers {

inline constexpr auto kSystemNamespaces =
    std::to_array<std::string_view>({"default", "kube-system", "kube-public", "kube-node-lease"});

class NamespaceKeeper final : public Reader {
 public:
  explicit NamespaceKeeper(const Context& context);

  void Begin() override {}
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Returns whether it did anything.
  bool Work();
  base::SteadyTime NextDue() const { return due_; }

 private:
  const Context context_;
  base::SteadyTime due_;
};

}  // namespace berth::controllers
