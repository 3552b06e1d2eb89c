#include "berth/ui/ui_command.h"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "berth/exit_code.h"
#include "berth/inspect/load_cluster.h"
#include "berth/observe/followed_cluster.h"
#include "berth/observe/history_document.h"
#include "berth/serve/end_signals.h"
#include "berth/store/open.h"
#include "berth/terminal.h"
#include "berth/ticker.h"
#include "berth/ui/local_door.h"
#include "berth/ui/open_browser.h"
#include "berth/ui/scene_board.h"
#include "berth/ui/scene_keeper.h"
#include "berth/ui/scene_past.h"
#include "berth/ui/ui_web.h"
#include "http/server.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

constexpr std::chrono::seconds kUiDrain{2};
constexpr int kLastPort = 65535;

bool IsUiAtRest(const SourceArguments& source) {
  return !source.files.empty() || !source.data_dir.empty() || !source.snapshot.empty();
}

/// Shows a cluster that does not change.
Result<std::string> ShowAtRest(const UiArguments& arguments, const ScenePast& past,
                               const base::Clock& clock, SceneBoard& board) {
  auto cluster = LoadCluster(arguments.source, clock);
  if (!cluster) return tl::unexpected(cluster.error());
  std::string name = cluster->source;
  SceneOptions options{.past = past.owners};
  if (past.use) {
    const inspect::Cluster outline{.read_at = cluster->read_at, .ranges = cluster->ranges};
    options.use = past.use(inspect::Census(outline));
  }
  board.Show(std::make_shared<const Scene>(*std::move(cluster), std::move(options)));
  return name;
}

/// Follows a running cluster for as long as it exists.
class Following {
 public:
  Following(FollowedCluster cluster, ScenePast past, const base::Clock& clock, SceneBoard& board)
      : cluster_(std::move(cluster)), keeper_(board, std::move(past), clock) {
    cluster_.follower->Start(keeper_);
    ticker_.emplace([this] { cluster_.follower->Tick(); });
  }
  ~Following() {
    ticker_.reset();
    cluster_.follower.reset();  // It reports to the keeper.
  }
  Following(const Following&) = delete;
  Following& operator=(const Following&) = delete;

 private:
  FollowedCluster cluster_;
  SceneKeeper keeper_;
  std::optional<Ticker> ticker_;
};

Result<void> ServeUi(const UiArguments& arguments) {
  EndSignals signals("ui");  // Before the first thread, which inherits blocked signals.
  const base::SystemClock clock;
  base::Logger log({}, clock);
  ScenePast past;
  if (!arguments.history.empty()) {
    const auto opened = OpenHistoryReader(arguments.history);
    if (!opened) return tl::unexpected(opened.error());
    past = PastOf(HistoryDirectory(arguments.history), nullptr);
  }
  SceneBoard board(clock);
  UiWeb web({.board = board, .clock = clock, .version = arguments.version});
  std::string base_url;
  LocalDoor door(web, clock,
                 [&base_url](const std::string& path) { PrintOut(NewLinkText(base_url + path)); });
  std::optional<Following> following;
  std::string source;
  bool answers = true;
  if (IsUiAtRest(arguments.source)) {
    auto shown = ShowAtRest(arguments, past, clock, board);
    if (!shown) return tl::unexpected(shown.error());
    source = *std::move(shown);
  } else {
    auto cluster = FindFollowedCluster(arguments.source, clock, log);
    if (!cluster) return tl::unexpected(cluster.error());
    source = cluster->access.url;
    answers = cluster->answers;
    following.emplace(*std::move(cluster), std::move(past), clock, board);
  }
  http::Server server(
      {.port = static_cast<uint16_t>(arguments.port), .io_threads = 1},
      [&door](const http::Request& request, const http::Responder& responder) {
        door.Handle(request, responder);
      },
      log, clock);
  if (auto started = server.Start(); !started) return started;
  signals.Ready();
  door.Listen(server.port());
  base_url = fmt::format("http://127.0.0.1:{}", server.port());
  const std::string link = base_url + door.NewLink();
  PrintOut(LinkText(source, link));
  if (!answers) PrintOut("The cluster does not answer yet. The page comes as soon as it does.\n");
  if (arguments.open) {
    if (const auto opened = OpenBrowser(link); !opened) {
      fmt::print(stderr, "berth ui: {}; open the link yourself\n", opened.error().message);
    }
  }
  while (signals.Next() != EndSignals::Wanted::kEnd) {
  }
  following.reset();
  server.Drain(kUiDrain);
  return {};
}

Result<void> CheckUi(const UiArguments& arguments) {
  if (arguments.port < 0 || arguments.port > kLastPort) {
    return base::Fail(Reason::kInvalid, "--port: must be from 0 to 65535");
  }
  return CheckSource(arguments.source);
}

}  // namespace

int RunUi(const UiArguments& arguments) {
  auto done = CheckUi(arguments);
  if (done) done = ServeUi(arguments);
  return done ? kFine : ReportError("ui", done.error());
}

}  // namespace berth::cli
