// What the page of `berth ui` gets from its server, once it is clear who asks: the files of the
// page, the documents that web/src/api.ts describes, and the stream of news.
//
//   /                    the page, and its files
//   /ui/v1/overview      and the other documents, made by workers from the newest scene
//   /ui/v1/events        Server-Sent Events
//
// A document carries an entity tag of the scene that it is made from, and is never kept by a
// browser. Errors are {code, message}.
//
// Threads: Serve may be called from any thread and does not block.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "berth/ui/scene_board.h"
#include "http/message.h"
#include "http/responder.h"
#include "server/workers.h"
#include "ui/assets.h"

namespace berth::cli {

/// Who asks.
struct Visitor {
  std::string user = {};  ///< Empty if there is only one person.
  std::optional<base::WallTime> expires = {};
  /// Whether the visitor may still see the page. Asked for streams, from any thread. Must not
  /// block.
  std::function<bool()> is_open = [] { return true; };
};

inline constexpr std::string_view kUiPrefix = "/ui/v1/";
inline constexpr std::string_view kSessionPath = "/ui/v1/session";

class UiWeb {
 public:
  struct Parts {
    SceneBoard& board;
    const base::Clock& clock;
    bool team = false;
    std::string version = {};  ///< Of Berth.
  };

  explicit UiWeb(const Parts& parts);

  /// Returns whether the page has this path: a file of it, or something below /ui/.
  bool Owns(std::string_view path) const;
  const ui::Assets& assets() const { return assets_; }

  /// Answers a request of this visitor, other than to open or to end a session.
  void Serve(const http::Request& request, const http::Responder& responder,
             const Visitor& visitor);

  /// Returns the document of /ui/v1/session. `visitor` is null for a client that is not signed in.
  http::Response SessionAnswer(const Visitor* visitor) const;

 private:
  http::Response Document(const http::Request& request) const;
  http::Response NoScene(const std::optional<SceneTrouble>& trouble) const;
  void BeginStream(const http::Responder& responder, const Visitor& visitor);

  const Parts parts_;
  const ui::Assets assets_;
  const std::string process_;  ///< A part of entity tags, so that those of another process differ.
  server::Workers workers_;    // The last member: it ends before what it uses.
};

}  // namespace berth::cli
