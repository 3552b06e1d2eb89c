#include "ui/sessions.h"

#include <algorithm>
#include <utility>

namespace berth::ui {
namespace {

using base::Reason;
using base::Result;

bool IsVerdict(const base::Error& error) {
  return error.reason == Reason::kUnauthorized || error.reason == Reason::kForbidden;
}

}  // namespace

Sessions::Sessions(Judge& judge, const base::Clock& clock, CookieOptions cookie,
                   SessionLimits limits, std::function<void()> on_end)
    : judge_(judge),
      clock_(clock),
      cookie_(std::move(cookie)),
      limits_(limits),
      on_end_(std::move(on_end)),
      tries_(limits.tries) {}

Sessions::Kept Sessions::NewSession(std::string user, Credential credential) const {
  auto session = std::make_shared<Session>();
  session->user_ = std::move(user);
  session->credential_ = std::move(credential);
  session->expires_ = clock_.Now() + limits_.lifetime;
  session->end_ = clock_.Steady() + limits_.lifetime;
  session->checked_ = session->confirmed_ = clock_.Steady();
  return session;
}

Result<Sessions::Pointer> Sessions::SignIn(const std::string& token, const std::string& client) {
  {
    const base::MutexLock lock(mutex_);
    if (!tries_.Take(client, clock_.Steady())) {
      return base::Fail(Reason::kTooManyRequests,
                        "too many tries to sign in; wait a few seconds and try again");
    }
  }
  Credential credential{.token = token};
  auto user = judge_.Admit(credential);
  if (!user) return tl::unexpected(user.error());
  Kept session = NewSession(*std::move(user), std::move(credential));
  session->id_ = NewSecret();
  return Add(std::move(session));
}

Result<Sessions::Pointer> Sessions::Add(Kept session) {
  bool ended = false;
  {
    const base::MutexLock lock(mutex_);
    const base::SteadyTime now = clock_.Steady();
    ended = EndIf([now](const Session& each) { return each.end_ <= now; });
    const auto is_of_user = [&](const Kept& each) { return each->user_ == session->user_; };
    if (std::cmp_greater_equal(std::ranges::count_if(sessions_, is_of_user),
                               limits_.sessions_of_user)) {
      const Session* oldest = std::ranges::find_if(sessions_, is_of_user)->get();
      ended = EndIf([oldest](const Session& each) { return &each == oldest; }) || ended;
    }
    if (sessions_.size() >= limits_.sessions) {
      return base::Fail(Reason::kTooManyRequests, "too many people are signed in; try again later");
    }
    sessions_.push_back(session);
  }
  if (ended) on_end_();
  return session;
}

/// Looks at all sessions, so that the time does not tell how much of an id is right.
Sessions::Pointer Sessions::Find(const http::Request& request) const {
  const auto ids = FindCookies(request.headers, cookie_.name);
  Pointer found;
  if (ids.empty()) return found;
  const base::MutexLock lock(mutex_);
  for (const Kept& session : sessions_) {
    for (const std::string_view id : ids) {
      if (IsSame(session->id_, id)) found = session;
    }
  }
  return found != nullptr && found->IsOpen(clock_) ? found : nullptr;
}

void Sessions::SignOut(const http::Request& request) {
  const Pointer session = Find(request);
  if (session == nullptr) return;
  {
    const base::MutexLock lock(mutex_);
    EndIf([&session](const Session& each) { return &each == session.get(); });
  }
  on_end_();
}

Sessions::Pointer Sessions::FindNamed(const Credential& who) const {
  const base::MutexLock lock(mutex_);
  for (const Kept& session : sessions_) {
    if (session->id_.empty() && session->credential_ == who && session->IsOpen(clock_)) {
      return session;
    }
  }
  return nullptr;
}

Result<Sessions::Pointer> Sessions::AdmitNamed(const Credential& who) {
  if (auto known = FindNamed(who)) return known;
  auto user = judge_.Admit(who);
  if (!user) return tl::unexpected(user.error());
  if (auto known = FindNamed(who)) return known;  // Another request was faster.
  return Add(NewSession(*std::move(user), who));
}

bool Sessions::EndIf(const std::function<bool(const Session&)>& is_over) {
  return std::erase_if(sessions_, [&](const Kept& session) {
           if (!is_over(*session)) return false;
           session->over_.store(true, std::memory_order_release);
           return true;
         }) > 0;
}

void Sessions::Confirm(const Kept& session) {
  const base::MutexLock lock(mutex_);
  session->confirmed_ = session->checked_ = clock_.Steady();
}

void Sessions::CheckDue() {
  std::vector<Kept> due;
  {
    const base::MutexLock lock(mutex_);
    const base::SteadyTime now = clock_.Steady();
    for (const Kept& session : sessions_) {
      if (session->end_ > now && now - session->checked_ >= limits_.check_every) {
        due.push_back(session);
        session->checked_ = now;
      }
    }
  }
  std::vector<const Session*> lost;
  bool answers = true;
  for (const Kept& session : due) {
    // A judge that does not answer for one does not for the others either.
    if (!answers) break;
    const auto user = judge_.Admit(session->credential_);
    if (user && *user == session->user_) {
      Confirm(session);
    } else if (user || IsVerdict(user.error())) {
      lost.push_back(session.get());
    } else {
      answers = false;
    }
  }
  bool ended = false;
  {
    const base::MutexLock lock(mutex_);
    const base::SteadyTime now = clock_.Steady();
    ended = EndIf([&](const Session& each) {
      return each.end_ <= now || now - each.confirmed_ >= limits_.unchecked ||
             std::ranges::find(lost, &each) != lost.end();
    });
  }
  if (ended) on_end_();
}

size_t Sessions::size() const {
  const base::MutexLock lock(mutex_);
  return sessions_.size();
}

}  // namespace berth::ui
