#include "berth/observe/observe_command.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/go_text.h"
#include "base/log.h"
#include "berth/exit_code.h"
#include "berth/files.h"
#include "berth/inspect/load_cluster.h"
#include "berth/observe/cluster_reviewer.h"
#include "berth/observe/followed_cluster.h"
#include "berth/observe/history_document.h"
#include "berth/observe/listen_address.h"
#include "berth/observe/observer_web.h"
#include "berth/observe/reviewer.h"
#include "berth/serve/end_signals.h"
#include "berth/store/open.h"
#include "berth/terminal.h"
#include "berth/text.h"
#include "berth/ticker.h"
#include "berth/ui/both_sinks.h"
#include "berth/ui/observe_ui.h"
#include "berth/ui/observer_page.h"
#include "history/history.h"
#include "http/server.h"
#include "kube/access.h"
#include "obs/process_metrics.h"
#include "observe/follower.h"
#include "observe/observer.h"
#include "observe/observer_metrics.h"

namespace berth::cli {
namespace {

using base::Reason;
using base::Result;

constexpr int kTicksPerRefresh = 30;
constexpr std::chrono::seconds kObserverDrain{5};

/// The arguments after they have been checked.
struct ObserveSettings {
  history::HistoryOptions history = {};
  ListenAddress listen = {};
  std::optional<http::TlsSettings> tls = {};
};

/// Parses a size in bytes, with a unit of Kubernetes or without: "500Mi", "1Gi".
Result<uint64_t> ParseBytes(const std::string& text) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 5> kUnits = {
      {{"", 0}, {"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}}};
  constexpr uint64_t kLeast = uint64_t{1} << 20;
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  for (const auto& [unit, shift] : kUnits) {
    const bool is_unit = std::string_view(end, text.data() + text.size()) == unit;
    if (error != std::errc() || !is_unit || number > (UINT64_MAX >> shift)) continue;
    if (number << shift >= kLeast) return number << shift;
  }
  return base::Fail(Reason::kInvalid,
                    fmt::format("--keep-bytes {}: must be a size of at least 1Mi, such as 500Mi "
                                "or 1Gi",
                                base::GoQuoted(text)));
}

Result<std::optional<http::TlsSettings>> ReadCertificates(const ObserveArguments& arguments) {
  if (arguments.tls_cert_file.empty() && arguments.tls_private_key_file.empty()) {
    return std::nullopt;
  }
  if (arguments.tls_cert_file.empty() || arguments.tls_private_key_file.empty()) {
    return base::Fail(Reason::kInvalid,
                      "--tls-cert-file and --tls-private-key-file must be given together");
  }
  auto certificate = ReadFlagFile("--tls-cert-file", arguments.tls_cert_file);
  if (!certificate) return tl::unexpected(certificate.error());
  auto key = ReadFlagFile("--tls-private-key-file", arguments.tls_private_key_file);
  if (!key) return tl::unexpected(key.error());
  return http::TlsSettings{.certificate_pem = *std::move(certificate), .key_pem = *std::move(key)};
}

/// Returns what the server shows and whom it trusts.
Result<std::optional<http::TlsSettings>> ReadTls(const ObserveArguments& arguments) {
  auto tls = ReadCertificates(arguments);
  if (!tls) return tls;
  const bool at_rest = !arguments.source.files.empty();
  if (auto added = AddObserveUi(arguments.page, at_rest, *tls); !added) {
    return tl::unexpected(added.error());
  }
  return tls;
}

/// Beyond loopback any client could read which Services there are. Then a cluster must decide who
/// may, and tokens must not be readable on the way.
Result<void> CheckExposure(const ObserveSettings& settings, bool has_reviewer) {
  if (settings.listen.IsLoopback()) return {};
  if (!settings.tls) {
    return base::Fail(
        Reason::kInvalid,
        fmt::format("--listen {}: other machines can reach this address, so TLS is needed: give "
                    "--tls-cert-file and --tls-private-key-file, or listen on 127.0.0.1",
                    settings.listen.host));
  }
  if (has_reviewer) return {};
  return base::Fail(
      Reason::kInvalid,
      fmt::format("--listen {}: other machines can reach this address, and with -f there is no "
                  "cluster that could say who may read; listen on 127.0.0.1",
                  settings.listen.host));
}

Result<ObserveSettings> CheckObserve(const ObserveArguments& arguments) {
  ObserveSettings settings;
  if (arguments.data_dir.empty()) {
    return base::Fail(Reason::kInvalid,
                      "--data-dir is missing: give a folder for the history of this cluster");
  }
  settings.history.directory = HistoryDirectory(arguments.data_dir);
  constexpr int kMaxDays = 36500;
  if (arguments.keep_days < 1 || arguments.keep_days > kMaxDays) {
    return base::Fail(Reason::kInvalid, "--keep-days: must be from 1 to 36500");
  }
  settings.history.keep = std::chrono::days(arguments.keep_days);
  const auto bytes = ParseBytes(arguments.keep_bytes);
  if (!bytes) return tl::unexpected(bytes.error());
  settings.history.keep_bytes = *bytes;
  if (arguments.max_lag < 1) return base::Fail(Reason::kInvalid, "--max-lag: must be at least 1");
  auto listen = ParseListenAddress(arguments.listen);
  if (!listen) return tl::unexpected(listen.error());
  settings.listen = *std::move(listen);
  auto tls = ReadTls(arguments);
  if (!tls) return tl::unexpected(tls.error());
  settings.tls = *std::move(tls);
  if (arguments.page.ui && arguments.once) {
    return base::Fail(Reason::kInvalid,
                      "--ui serves a page, and --once ends at once; leave one out");
  }
  return settings;
}

/// Returns the regular work of an observer, for a Ticker. `follower` may be null.
std::function<void()> Housekeeping(observe::Observer& observer,
                                   observe::ClusterFollower* follower) {
  return [&observer, follower, ticks = 0]() mutable {
    if (follower != nullptr) follower->Tick();
    observer.history().Tick();
    const bool due = ++ticks % kTicksPerRefresh == 0 || observer.figures() == nullptr;
    if (due) observer.Refresh();
  };
}

Result<void> RecordOnce(const ObserveArguments& arguments, const ObserveSettings& settings) {
  const base::SystemClock clock;
  base::Logger log({}, clock);
  const auto cluster = LoadCluster(arguments.source, clock);
  if (!cluster) return tl::unexpected(cluster.error());
  auto history = history::History::Open(settings.history, clock, log);
  if (!history) return tl::unexpected(history.error());
  const bool is_new = (*history)->stats().services == 0;
  observe::Observer observer({}, **history, clock);
  observer.Replace(*cluster);
  observer.Refresh();
  if (auto synced = (*history)->Sync(); !synced) return synced;
  const history::HistoryStats stats = (*history)->stats();
  PrintOut(fmt::format("Recorded {} with {}: {}.\n", Plural(stats.services, "Service", "Services"),
                       Plural(stats.values, "value", "values"),
                       is_new
                           ? "the history begins here"
                           : Plural(stats.changes, "change", "changes") + " since the last time"));
  return {};
}

/// What an observer looks at, and the judge of who may read from it. OpenLookout is the one place
/// that knows which sources there are.
struct Lookout {
  std::string name = {};
  std::optional<inspect::Cluster> view = {};                ///< Of a source that is read once.
  std::optional<kube::Access> access = {};                  ///< Of one that is followed.
  std::unique_ptr<observe::ClusterFollower> follower = {};  ///< The same.
  std::unique_ptr<Reviewer> reviewer = {};
};

Result<Lookout> OpenLookout(const ObserveArguments& arguments, const base::Clock& clock,
                            base::Logger& log) {
  if (arguments.source.files.empty()) {
    auto cluster = FindFollowedCluster(arguments.source, clock, log);
    if (!cluster) return tl::unexpected(cluster.error());
    return Lookout{.name = cluster->access.url,
                   .access = cluster->access,
                   .follower = std::move(cluster->follower),
                   .reviewer = std::make_unique<ClusterReviewer>(cluster->access)};
  }
  auto cluster = LoadCluster(arguments.source, clock);
  if (!cluster) return tl::unexpected(cluster.error());
  std::string name = cluster->source;
  return Lookout{.name = std::move(name), .view = *std::move(cluster)};
}

/// Prints the link to the page, if one person opens it.
void ShowLink(ObserverPage& page, ObserveUiParts& parts, const std::string& source,
              const ListenAddress& listen, uint16_t port) {
  const bool is_v6 = listen.host.find(':') != std::string::npos;
  const std::string host =
      fmt::format("{}:{}", is_v6 ? "[" + listen.host + "]" : listen.host, port);
  parts.base_url = "http://" + host;
  const std::string path = page.Listen(port, host);
  if (!path.empty()) PrintOut(LinkText(source, parts.base_url + path));
}

/// Serves until a signal ends it.
Result<void> ObserveAndServe(const ObserveArguments& arguments, ObserveSettings settings) {
  EndSignals signals("observe");  // Before the thread of the log, which inherits blocked signals.
  const base::SystemClock clock;
  base::Logger log({}, clock);
  auto lookout = OpenLookout(arguments, clock, log);
  if (!lookout) return tl::unexpected(lookout.error());
  const bool has_reviewer = lookout->reviewer != nullptr;
  if (auto allowed = CheckExposure(settings, has_reviewer); !allowed) return allowed;
  auto history = history::History::Open(settings.history, clock, log);
  if (!history) return tl::unexpected(history.error());
  observe::Observer observer({}, **history, clock);
  ObserveUiParts page_parts{.arguments = arguments.page,
                            .history = **history,
                            .clock = clock,
                            .access = lookout->access,
                            .tls = settings.tls ? &*settings.tls : nullptr};
  std::unique_ptr<ObserverPage> page;
  if (arguments.page.ui) {
    auto made = MakeObserverPage(page_parts);
    if (!made) return tl::unexpected(made.error());
    page = *std::move(made);
  }
  if (lookout->view) {
    observer.Replace(*lookout->view);
    if (page != nullptr) page->Show(*std::move(lookout->view));
    lookout->view.reset();
    observer.Refresh();
  }
  obs::Metrics metrics;
  observe::AddObserverMetrics(observer, clock, metrics);
  obs::AddProcessMetrics(metrics);
  ObserverWeb::Parts parts{.observer = observer, .metrics = metrics, .clock = clock};
  std::optional<CachingReviewer> reviewer;
  if (has_reviewer && !settings.listen.IsLoopback()) {
    parts.reviewer = &reviewer.emplace(*lookout->reviewer, clock);
  }
  const ui::OriginCheck names = LoopbackNames(arguments.page);
  if (parts.reviewer == nullptr) parts.names = &names;
  if (lookout->follower) parts.max_lag = std::chrono::seconds(arguments.max_lag);
  ObserverWeb web(parts);
  http::Server server(
      {.addresses = {settings.listen.host},
       .port = settings.listen.port,
       .io_threads = 1,
       .tls = settings.tls},
      [&web, page = page.get()](const http::Request& request, const http::Responder& responder) {
        if (page != nullptr && page->Owns(request.path)) {
          page->Handle(request, responder);
        } else {
          web.Handle(request, responder);
        }
      },
      log, clock);
  if (auto started = server.Start(); !started) return started;
  signals.Ready();
  if (page != nullptr) ShowLink(*page, page_parts, lookout->name, settings.listen, server.port());
  std::optional<Ticker> housekeeper(std::in_place, Housekeeping(observer, lookout->follower.get()));
  std::optional<BothSinks> both;
  if (page != nullptr) both.emplace(observer, page->sink());
  if (lookout->follower) {
    lookout->follower->Start(both ? static_cast<observe::ClusterSink&>(*both) : observer);
  }
  log.Info("observing", {{"source", lookout->name},
                         {"address", settings.listen.host},
                         {"port", server.port()},
                         {"history", settings.history.directory}});
  while (signals.Next() == EndSignals::Wanted::kReload) {
    const auto tls = ReadTls(arguments);
    const auto reloaded = !tls    ? tl::unexpected(tls.error())
                          : !*tls ? Result<void>()
                                  : server.ReloadTls(**tls);
    if (!reloaded) {
      log.Error("cannot reload the certificate; the previous one stays in use",
                {{"why", reloaded.error().message}});
    }
  }
  housekeeper.reset();  // It uses the follower.
  lookout->follower.reset();
  server.Drain(kObserverDrain);
  return (*history)->Sync();
}

}  // namespace

int RunObserve(const ObserveArguments& arguments) {
  auto settings = CheckObserve(arguments);
  if (!settings) return ReportError("observe", settings.error());
  const auto done = arguments.once ? RecordOnce(arguments, *settings)
                                   : ObserveAndServe(arguments, *std::move(settings));
  return done ? kFine : ReportError("observe", done.error());
}

}  // namespace berth::cli
