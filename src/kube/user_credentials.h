// The identity that a kubeconfig contains or names the files of: a token, a user with a password, a
// client certificate, or several of them. Files are read again every minute, because other programs
// renew the tokens and certificates in them. If a file cannot be read at that time, the identity
// from before is kept.
//
// Threads: any.
#pragma once

#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "kube/credentials.h"
#include "kube/kubeconfig_entries.h"
#include "kube/surroundings.h"

namespace berth::kube {

class UserCredentials final : public Credentials {
 public:
  /// Uses the file of a token before the token itself, as kubectl does. Ignores `exec` and
  /// impersonation. The clock of `around` outlives this object.
  UserCredentials(UserSettings user, const Surroundings& around);

  base::Result<Identity> Get() override EXCLUDES(mutex_);

  /// Reads the files again. Returns whether they now contain another identity.
  bool OnUnauthorized(const Identity& used) override EXCLUDES(mutex_);

 private:
  bool HasFiles() const;
  base::Result<Identity> Read() const;
  base::Result<std::string> ReadToken() const;

  const UserSettings user_;
  const FileReader read_file_;
  const base::Clock& clock_;
  base::Mutex mutex_;
  std::optional<Identity> identity_ GUARDED_BY(mutex_);
  base::SteadyTime read_at_ GUARDED_BY(mutex_){};
};

/// Returns the PEM text of a source; `what` names it in errors. Fails if its file cannot be read or
/// does not contain PEM.
base::Result<std::string> LoadPem(const PemSource& source, std::string_view what,
                                  std::string_view where, const FileReader& read_file);

/// Returns whether a token can be sent in a header: it has no spaces and no control characters.
bool IsSendableToken(std::string_view token);

}  // namespace berth::kube
