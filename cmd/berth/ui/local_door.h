// The way to the page for one person on this machine: the link in the terminal, then a cookie.
//
// Threads: any. Nothing here blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "berth/ui/ui_web.h"
#include "http/message.h"
#include "http/responder.h"
#include "ui/gate.h"
#include "ui/origin_check.h"

namespace berth::cli {

/// Returns what the terminal shows about a link. `source` names the cluster.
std::string LinkText(std::string_view source, std::string_view link);
/// Returns the same about one that replaces a link that was used again.
std::string NewLinkText(std::string_view link);

class LocalDoor {
 public:
  /// `on_used_again` is called with a new link when a client without the cookie has used an old
  /// one, at most once every few seconds. The person in front of the terminal decides what it is
  /// good for.
  LocalDoor(UiWeb& web, const base::Clock& clock,
            std::function<void(const std::string& path)> on_used_again)
      : web_(web), clock_(clock), on_used_again_(std::move(on_used_again)) {}

  /// Tells the port of the server, and another host with its port that counts. Before that, all
  /// requests are refused.
  void Listen(uint16_t port, const std::string& host = {}) EXCLUDES(mutex_);
  std::string NewLink() { return gate_.NewLink(); }

  void Handle(const http::Request& request, const http::Responder& responder) EXCLUDES(mutex_);

 private:
  std::optional<std::string> WhyRefused(const http::Request& request, ui::Asked asked)
      EXCLUDES(mutex_);
  void OpenLink(const http::Request& request, const http::Responder& responder);

  UiWeb& web_;
  const base::Clock& clock_;
  const std::function<void(const std::string& path)> on_used_again_;
  ui::Gate gate_;
  base::Mutex mutex_;
  std::shared_ptr<const ui::OriginCheck> origins_ GUARDED_BY(mutex_);
  std::optional<base::SteadyTime> new_link_at_ GUARDED_BY(mutex_);
};

}  // namespace berth::cli
