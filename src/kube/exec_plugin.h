// The identity that a credential plugin prints: a program that the kubeconfig names, such as
// `aws eks get-token`, gke-gcloud-auth-plugin or kubelogin. The credential is kept until it expires
// or the server refuses it. Then the plugin is run again.
//
// Threads: any. The plugin runs once at a time, and threads that need the credential wait for it.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "codec/value.h"
#include "kube/credentials.h"
#include "kube/exec_answer.h"
#include "kube/kubeconfig_entries.h"
#include "kube/surroundings.h"

namespace berth::kube {

class ExecPlugin final : public Credentials {
 public:
  /// `where` names the user in errors. `cluster` is what the plugin learns about the cluster, or
  /// null. The clock of `around` outlives this object.
  ExecPlugin(ExecSettings exec, std::string where, codec::Value cluster, Surroundings around);

  base::Result<Identity> Get() override EXCLUDES(mutex_);

  /// Discards the credential if it is the one that was used. Returns false if the plugin was run
  /// again for the same credential less than a minute ago, which then did not help.
  bool OnUnauthorized(const Identity& used) override EXCLUDES(mutex_);

 private:
  struct Refusal {
    Identity identity;
    base::SteadyTime at;
  };

  /// Returns whether the plugin may talk to the user. Fails if it must and cannot.
  base::Result<bool> IsInteractive() const;
  base::Result<PluginRun> RunProgram(bool interactive) const;
  base::Result<ExecAnswer> Ask() const;
  bool IsUsable() const REQUIRES(mutex_);
  tl::unexpected<base::Error> PluginError(base::Reason reason, std::string_view what) const;

  const ExecSettings exec_;
  const std::string where_;
  const codec::Value cluster_;
  const Surroundings around_;
  base::Mutex mutex_;
  std::optional<ExecAnswer> answer_ GUARDED_BY(mutex_);
  base::SteadyTime asked_at_ GUARDED_BY(mutex_){};
  std::optional<Refusal> refused_ GUARDED_BY(mutex_);
};

}  // namespace berth::kube
