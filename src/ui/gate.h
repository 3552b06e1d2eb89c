// Lets the browser of one person in. The person gets a link with a secret that works once. The
// answer sets a cookie with another secret, which every later request must carry. The link goes
// through terminals and command lines, the cookie does not.
//
//   Gate gate;
//   Print("http://127.0.0.1:43211" + gate.NewLink());
//
// Threads: any.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "http/message.h"
#include "ui/secrets.h"

namespace berth::ui {

class Gate {
 public:
  static constexpr std::string_view kLinkPath = "/open/";

  Gate() = default;

  /// Returns the path of a new link. Links that were not used before do not work any more.
  std::string NewLink() EXCLUDES(mutex_);

  /// What came of a visit to a link.
  enum class Visit : uint8_t { kOpened, kUsedBefore, kUnknown, kNotYet };
  struct Opened {
    http::Response response = {};
    Visit visit = Visit::kUnknown;
  };
  /// Answers a GET or HEAD of a path that begins with kLinkPath. The answer to the first GET sets
  /// the cookie. All answers are small pages from which the browser goes on to "/": a redirect
  /// would lose the cookie if another site had the link. A browser that has the cookie gets there
  /// with a used link too.
  Opened Open(const http::Request& request) EXCLUDES(mutex_);

  /// Returns whether the request has the cookie.
  bool MayPass(const http::Request& request) const;

  /// Returns the page for people without the cookie: 401.
  static http::Response Closed();

  const std::string& cookie_name() const { return cookie_.name; }

 private:
  const CookieOptions cookie_ = {.name = NewCookieName(/*secure=*/false)};
  const std::string pass_ = NewSecret();  ///< The value of the cookie.

  base::Mutex mutex_;
  std::string link_ GUARDED_BY(mutex_);
  std::deque<std::string> used_ GUARDED_BY(mutex_);  ///< The last few links that were used.
};

}  // namespace berth::ui
