// Asks a cluster who may see the page: users who may list the Services of all namespaces.
//
// Each question has a connection of its own and a time limit, so an API server that hangs for one
// person does not delay another.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "http/stop_signal.h"
#include "kube/access.h"
#include "ui/sessions.h"

namespace berth::cli {

class ClusterJudge final : public ui::Judge {
 public:
  explicit ClusterJudge(kube::Access access);

  /// A user without a token is one that a proxy names.
  base::Result<std::string> Admit(const ui::Credential& credential) override;

  /// Ends questions that are under way, now and from now on.
  void Stop() { stop_->Raise(); }

 private:
  kube::Access access_;
  const std::shared_ptr<http::StopSignal> stop_ = std::make_shared<http::StopSignal>();
};

}  // namespace berth::cli
