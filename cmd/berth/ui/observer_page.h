// The page of `berth observe --ui`: everything that an observer needs to serve it beside its own
// paths. On loopback without TLS one person opens it with a link, as with `berth ui`; otherwise a
// team signs in.
//
// Threads: Handle may be called from any thread and does not block.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "berth/ui/cluster_judge.h"
#include "berth/ui/local_door.h"
#include "berth/ui/scene_board.h"
#include "berth/ui/scene_keeper.h"
#include "berth/ui/team_door.h"
#include "berth/ui/ui_web.h"
#include "http/message.h"
#include "http/responder.h"
#include "inspect/cluster.h"
#include "kube/access.h"

namespace berth::cli {

/// How a team reaches the page.
struct TeamAccess {
  kube::Access cluster = {};            ///< Says who people are.
  std::vector<std::string> names = {};  ///< Under which browsers know the observer.
  std::optional<TrustedProxy> proxy = {};
  ui::SessionLimits limits = {};
};

class ObserverPage {
 public:
  struct Options {
    ScenePast past = {};
    std::string version = {};             ///< Of Berth.
    std::optional<TeamAccess> team = {};  ///< If unset, one person opens it with a link.
    /// Called with a new link when an old one was used again.
    std::function<void(const std::string& path)> on_new_link = {};
  };

  /// The clock must outlive the page.
  ObserverPage(Options options, const base::Clock& clock);
  ~ObserverPage();
  ObserverPage(const ObserverPage&) = delete;
  ObserverPage& operator=(const ObserverPage&) = delete;

  /// Takes what a follower reports.
  observe::ClusterSink& sink() { return *keeper_; }
  /// Shows a cluster that does not change.
  void Show(inspect::Cluster cluster);

  /// Tells the port of the server, and its address with the port. Returns the path of the link, or
  /// "" if a team signs in.
  std::string Listen(uint16_t port, const std::string& host);

  /// Returns whether the path belongs to the page and not to the observer.
  bool Owns(std::string_view path) const;
  void Handle(const http::Request& request, const http::Responder& responder);

 private:
  const base::Clock& clock_;
  const ScenePast past_;
  SceneBoard board_;
  UiWeb web_;
  std::optional<SceneKeeper> keeper_;
  std::optional<ClusterJudge> judge_;
  std::optional<LocalDoor> local_;
  std::optional<TeamDoor> team_;
};

/// Returns the names and addresses of a certificate, for TeamAccess::names.
base::Result<std::vector<std::string>> NamesOfCertificate(const std::string& pem);

}  // namespace berth::cli
