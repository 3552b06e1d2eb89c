#include "berth/serve/serve_command.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "berth/exit_code.h"
#include "berth/files.h"
#include "berth/serve/advertise.h"
#include "berth/serve/credentials.h"
#include "berth/serve/end_signals.h"
#include "berth/serve/node.h"
#include "berth/store/open.h"
#include "berth/terminal.h"
#include "store/copy.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_engine.h"
#include "store/etcd/note.h"
#include "store/rocks/rocks_engine.h"

namespace berth::cli {
namespace {

using base::Reason;

constexpr std::chrono::seconds kDrainLimit{30};
/// The limit if the store has stopped: then the writes under way are never answered.
constexpr std::chrono::seconds kShortDrain{2};
constexpr std::chrono::seconds kStartPause{1};
constexpr size_t kMaxNoteBytes = 8192;

/// What a server keeps when it starts over.
struct Service {
  ServeArguments arguments;
  const ServeSettings settings;
  const std::string version;
  const base::SystemClock clock = {};
  base::Logger log{{}, clock};
  bool started = false;
};

/// Returns the note that the last process left about its etcd.
std::optional<store::etcd::Note> ReadNote(const std::string& path, base::Logger& log) {
  const auto text = ReadAll(path, kMaxNoteBytes);
  if (!text) return std::nullopt;
  const auto note = store::etcd::ParseNote(*text);
  if (note) return *note;
  log.Warn(
      "the note about etcd cannot be read; a restore from a backup before this start is not "
      "noticed",
      {{"file", path}, {"why", note.error().message}});
  return std::nullopt;
}

base::Result<std::unique_ptr<store::Engine>> OpenEtcdFor(Service& service, EndSignals& signals,
                                                         obs::WriteMetrics& metrics) {
  const ServeArguments& arguments = service.arguments;
  base::Logger& log = service.log;
  store::etcd::ClientOptions client;
  client.endpoints = arguments.etcd_servers;
  client.ca_file = arguments.etcd_cafile;
  client.cert_file = arguments.etcd_certfile;
  client.key_file = arguments.etcd_keyfile;
  const std::string note = service.settings.data_dir + "/etcd-note";
  store::etcd::EtcdOptions options;
  options.prefix = arguments.etcd_prefix;
  options.metrics = &metrics;
  options.note = ReadNote(note, log);
  options.keep_note = [note, &log, last = std::string()](const store::etcd::Note& seen) mutable {
    std::string text = store::etcd::NoteText(seen);
    if (text == last) return;
    if (const auto written = WritePrivateFile(note, text); !written) {
      log.Warn("cannot keep the note about etcd", {{"why", written.error().message}});
    }
    last = std::move(text);
  };
  options.stopped = [&signals] { signals.StartOver(); };
  auto engine = store::etcd::EtcdEngine::Open(client, options, ObjectSlots(), log, service.clock);
  if (!engine) return tl::unexpected(std::move(engine.error()));
  return std::unique_ptr<store::Engine>(*std::move(engine));
}

base::Result<std::unique_ptr<store::Engine>> OpenStoreFor(Service& service, EndSignals& signals,
                                                          obs::WriteMetrics& metrics) {
  if (!service.arguments.etcd_servers.empty()) return OpenEtcdFor(service, signals, metrics);
  store::rocks::RocksOptions options;
  options.directory = StoreDirectory(service.settings.data_dir, /*to_make=*/true);
  options.history_bytes = static_cast<size_t>(service.arguments.history_bytes);
  options.metrics = &metrics;
  auto engine = store::rocks::RocksEngine::Open(options, service.log, service.clock);
  if (!engine) return tl::unexpected(std::move(engine.error()));
  return std::unique_ptr<store::Engine>(*std::move(engine));
}

std::string StoreName(const ServeArguments& arguments, const ServeSettings& settings) {
  if (!arguments.etcd_servers.empty()) return Address{.endpoints = arguments.etcd_servers}.Text();
  return Address{.directory = std::filesystem::absolute(settings.data_dir).lexically_normal()}
      .Text();
}

CredentialRequest CredentialsFor(const ServeArguments& arguments, const ServeSettings& settings) {
  const bool everywhere = arguments.bind_address == "0.0.0.0" || arguments.bind_address == "::";
  CredentialRequest request{.data_dir = settings.data_dir,
                            .address = everywhere ? "127.0.0.1" : arguments.bind_address,
                            .port = static_cast<uint16_t>(arguments.secure_port),
                            .tls_cert_file = arguments.tls_cert_file,
                            .tls_private_key_file = arguments.tls_private_key_file,
                            .client_ca_file = arguments.client_ca_file};
  // Its endpoints have this one, which is of use only if the server listens there.
  const auto advertised = AdvertisedAddress(arguments.advertise_address, arguments.bind_address);
  const auto bound = ip::ParseAddr(arguments.bind_address, ip::Strictness::kLegacyField);
  if (advertised && (everywhere || (bound && IsReachable(*bound)))) {
    request.more_ips.push_back(advertised->ToString());
  }
  // The Service "kubernetes" has the first address of each range.
  for (const ip::Cidr& range : settings.service_ranges) {
    const ip::Addr first(range.family(), range.First().bits() + 1);
    if (range.Contains(first)) request.more_ips.push_back(first.ToString());
  }
  return request;
}

base::Result<void> MakeDataDir(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error) return {};
  return base::Fail(Reason::kInvalid,
                    fmt::format("--data-dir: cannot create {}: {}", directory, error.message()));
}

base::Result<void> CheckWhole(store::Engine& engine) {
  const auto unfinished = store::UnfinishedCopy(engine);
  if (!unfinished) return tl::unexpected(unfinished.error());
  if (!*unfinished) return {};
  return base::Fail(
      Reason::kConflict,
      fmt::format("this store is an unfinished copy ({}); finish it, or remove it and start over",
                  **unfinished));
}

/// Reloads certificates and tokens.
void Reload(Node& node, const ServeArguments& arguments, const CredentialRequest& request,
            const base::Clock& clock, base::Logger& log) {
  const auto credentials = PrepareCredentials(request, clock, log);
  const auto reloaded = credentials ? node.Reload(credentials->tls, arguments.token_auth_file)
                                    : tl::unexpected(credentials.error());
  if (reloaded) {
    log.Info("reloaded certificates and tokens");
  } else {
    log.Error("cannot reload certificates and tokens; the previous ones stay in use",
              {{"why", reloaded.error().message}});
  }
}

/// Returns the text in single quotes, unless a shell would read it as one plain word.
std::string ShellWord(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Serves until a signal ends it, or until the store has to be opened again. Returns which.
base::Result<EndSignals::Wanted> ServeOnce(Service& service, EndSignals& signals) {
  const ServeArguments& arguments = service.arguments;
  const base::Clock& clock = service.clock;
  base::Logger& log = service.log;
  signals.Begin();
  obs::WriteMetrics writes;
  auto engine = OpenStoreFor(service, signals, writes);
  if (!engine) return tl::unexpected(std::move(engine.error()));
  if (auto whole = CheckWhole(**engine); !whole) return tl::unexpected(std::move(whole.error()));
  CredentialRequest request = CredentialsFor(arguments, service.settings);
  auto credentials = PrepareCredentials(request, clock, log);
  if (!credentials) return tl::unexpected(std::move(credentials.error()));
  auto node = Node::Start(*std::move(engine),
                          {.arguments = arguments,
                           .settings = service.settings,
                           .tls = credentials->tls,
                           .shared = !arguments.etcd_servers.empty(),
                           .store_name = StoreName(arguments, service.settings),
                           .version = service.version,
                           .writes = writes},
                          clock, log);
  if (!node) return tl::unexpected(std::move(node.error()));
  if (request.port == 0) {  // The kernel has chosen a free port.
    request.port = (*node)->port();
    credentials = PrepareCredentials(request, clock, log);
    if (!credentials) return tl::unexpected(std::move(credentials.error()));
  }
  log.Info("serving", {{"address", arguments.bind_address}, {"port", (*node)->port()}});
  if (!std::exchange(service.started, true)) {
    PrintOut(fmt::format("Berth {} serves {}. To use it:\n\n  export KUBECONFIG={}\n\n",
                         service.version, ServerUrl(request), ShellWord(credentials->kubeconfig)));
    for (const std::string& note : (*node)->notes()) PrintOut(note + "\n\n");
  }
  EndSignals::Wanted wanted = signals.Next();
  for (; wanted == EndSignals::Wanted::kReload; wanted = signals.Next()) {
    Reload(**node, arguments, request, clock, log);
  }
  const bool again = wanted == EndSignals::Wanted::kStartOver;
  log.Info(again ? "the store has to be opened again: closing watches, and starting over"
                 : "shutting down: closing watches and finishing requests");
  if (!(*node)->Drain(again ? kShortDrain : kDrainLimit)) {
    log.Warn("some requests did not finish in time");
  }
  service.arguments.secure_port = (*node)->port();
  return wanted;
}

base::Result<void> Serve(const ServeArguments& arguments, const std::string& version) {
  auto settings = CheckArguments(arguments);
  if (!settings) return tl::unexpected(settings.error());
  EndSignals signals("serve");
  Service service{.arguments = arguments, .settings = *std::move(settings), .version = version};
  if (auto made = MakeDataDir(service.settings.data_dir); !made) return made;
  for (;;) {
    const auto served = ServeOnce(service, signals);
    if (served && *served == EndSignals::Wanted::kEnd) return {};
    if (served) continue;
    const Reason reason = served.error().reason;
    const bool passing = reason == Reason::kServiceUnavailable || reason == Reason::kTimeout;
    if (!service.started || !passing) return tl::unexpected(served.error());
    service.log.Warn("cannot start over yet", {{"why", served.error().message}});
    std::this_thread::sleep_for(kStartPause);
  }
}

}  // namespace

int RunServe(const ServeArguments& arguments, const std::string& version) {
  const auto served = Serve(arguments, version);
  return served ? kFine : ReportError("serve", served.error());
}

}  // namespace berth::cli
