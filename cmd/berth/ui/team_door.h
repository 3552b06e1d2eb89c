// The way to the page for a team: people sign in with a token of the cluster, or a proxy that has
// checked them names them.
//
//   POST   /ui/v1/session {"token": "..."}    begins a session: 204, 401, 403, 429 or 503
//   DELETE /ui/v1/session                     ends it
//
// The files of the page are open to all, because they tell nothing and have the form to sign in.
//
// Threads: Handle may be called from any thread and does not block. Workers ask the cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "berth/ticker.h"
#include "berth/ui/ui_web.h"
#include "http/message.h"
#include "http/responder.h"
#include "server/workers.h"
#include "ui/origin_check.h"
#include "ui/sessions.h"

namespace berth::cli {

/// A proxy that stands before the observer and checks who people are. It shows a client certificate
/// of an authority that only signs such proxies.
struct TrustedProxy {
  std::vector<std::string> names = {};  ///< Common names of its certificate; none means any.
  std::vector<std::string> user_headers = {
      "x-remote-user"};  ///< In lower case; the first one counts.
  std::vector<std::string> group_headers = {"x-remote-group"};

  /// Returns whom the request is for, or nullopt if it does not come from the proxy.
  std::optional<ui::Credential> WhoIs(const http::Request& request) const;
  bool IsIt(const http::Peer& peer) const;
};

class TeamDoor {
 public:
  struct Parts {
    UiWeb& web;
    ui::EventHub& hub;
    ui::Judge& judge;
    const base::Clock& clock;
    ui::OriginOptions origins = {};
    std::optional<TrustedProxy> proxy = {};
    ui::SessionLimits limits = {};
  };

  explicit TeamDoor(Parts parts);

  void Handle(const http::Request& request, const http::Responder& responder);

 private:
  Visitor VisitorOf(const ui::Sessions::Pointer& session) const;
  void HandleSession(const http::Request& request, const http::Responder& responder);
  void SignIn(const http::Request& request, const http::Responder& responder);
  void HandleProxied(const ui::Credential& who, const http::Request& request,
                     const http::Responder& responder);
  /// Runs work that asks the cluster, or answers 503.
  void Ask(const http::Responder& responder, std::function<void()> work);

  const Parts parts_;
  const ui::OriginCheck origins_;
  ui::Sessions sessions_;
  server::Workers workers_;
  Ticker checks_;  // The last members: they end before what they use.
};

}  // namespace berth::cli
