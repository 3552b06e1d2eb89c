// The people of a team who are signed in. A session begins with a token that a judge accepts, or
// with a name that a trusted proxy gives. The browser gets a random id as a cookie; the token stays
// here. The judge is asked again every minute, and a session ends when the right has gone.
//
// Functions that ask the judge block for as long as the judge does, so they run on workers. A judge
// that hangs delays only those who sign in: Find never waits for it.
//
// Threads: any; CheckDue on one at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "http/message.h"
#include "ui/secrets.h"
#include "ui/try_limit.h"

namespace berth::ui {

/// What a session is opened with: a token, or the name of a user that was checked before.
struct Credential {
  std::string token = {};
  std::string user = {};
  std::vector<std::string> groups = {};

  bool operator==(const Credential&) const = default;
};

/// Decides who may see the page. Threads: any.
class Judge {
 public:
  virtual ~Judge() = default;

  /// Returns the name of the user. Fails with kUnauthorized for an unknown token, with kForbidden
  /// without the right, and with another reason if that is not known at the moment. Blocks for some
  /// seconds at most.
  virtual base::Result<std::string> Admit(const Credential& credential) = 0;
};

struct SessionLimits {
  std::chrono::seconds lifetime = std::chrono::hours(8);
  std::chrono::seconds check_every{60};
  /// How long a right counts that cannot be checked.
  std::chrono::seconds unchecked = std::chrono::minutes(10);
  size_t sessions = 500;
  size_t sessions_of_user = 20;  ///< Beyond it the oldest one ends.
  TryLimits tries = {};
};

class Session {
 public:
  const std::string& user() const { return user_; }
  /// When it ends at the latest.
  base::WallTime expires() const { return expires_; }
  bool IsOpen(const base::Clock& clock) const {
    return !over_.load(std::memory_order_acquire) && clock.Steady() < end_;
  }

 private:
  friend class Sessions;

  std::string id_;  ///< The value of the cookie; empty for one of a proxy.
  std::string user_;
  Credential credential_;
  base::WallTime expires_;
  base::SteadyTime end_;
  base::SteadyTime checked_;    ///< Of the thread of CheckDue, after the session was added.
  base::SteadyTime confirmed_;  ///< The same.
  std::atomic<bool> over_ = false;
};

class Sessions {
 public:
  using Pointer = std::shared_ptr<const Session>;

  /// `on_end` is called after sessions have ended, on any thread. The judge and the clock must
  /// outlive this.
  Sessions(Judge& judge, const base::Clock& clock, CookieOptions cookie, SessionLimits limits,
           std::function<void()> on_end);

  /// Signs in with a token. `client` is the address that the request comes from, without its port.
  /// Fails as the judge does, and with kTooManyRequests.
  base::Result<Pointer> SignIn(const std::string& token, const std::string& client)
      EXCLUDES(mutex_);
  /// Returns the Set-Cookie header for a new session.
  std::string CookieOf(const Session& session) const { return SetCookie(cookie_, session.id_); }
  /// Returns the one that deletes the cookie.
  std::string NoCookie() const { return SetCookie(cookie_, ""); }

  /// Returns the session whose cookie the request carries, or null.
  Pointer Find(const http::Request& request) const EXCLUDES(mutex_);
  void SignOut(const http::Request& request) EXCLUDES(mutex_);

  /// Returns the session of a user that a trusted proxy names, if there is one. Does not block.
  Pointer FindNamed(const Credential& who) const EXCLUDES(mutex_);
  /// Returns the same after it has asked the judge.
  base::Result<Pointer> AdmitNamed(const Credential& who) EXCLUDES(mutex_);

  /// Asks the judge about sessions that were not checked for a while, and ends those that are over.
  void CheckDue() EXCLUDES(mutex_);

  size_t size() const EXCLUDES(mutex_);

 private:
  using Kept = std::shared_ptr<Session>;

  Kept NewSession(std::string user, Credential credential) const;
  base::Result<Pointer> Add(Kept session) EXCLUDES(mutex_);
  /// Ends those for which `is_over` returns true. Returns whether there was one.
  bool EndIf(const std::function<bool(const Session&)>& is_over) REQUIRES(mutex_);
  void Confirm(const Kept& session) EXCLUDES(mutex_);

  Judge& judge_;
  const base::Clock& clock_;
  const CookieOptions cookie_;
  const SessionLimits limits_;
  const std::function<void()> on_end_;

  mutable base::Mutex mutex_;
  TryLimit tries_ GUARDED_BY(mutex_);
  std::vector<Kept> sessions_ GUARDED_BY(mutex_);  ///< The oldest first.
};

}  // namespace berth::ui
