#include "berth/serve/command.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "berth/exit_code.h"
#include "berth/serve/credentials.h"
#include "berth/serve/end_signals.h"
#include "berth/serve/node.h"
#include "berth/store/open.h"
#include "berth/terminal.h"
#include "store/copy.h"
#include "store/etcd/client.h"
#include "store/etcd/etcd_engine.h"
#include "store/rocks/rocks_engine.h"

namespace berth::cli {
namespace {

using base::Reason;

constexpr std::chrono::seconds kDrainLimit{30};

base::Result<std::unique_ptr<store::Engine>> OpenStoreFor(const ServeArguments& arguments,
                                                          const ServeSettings& settings,
                                                          const base::Clock& clock,
                                                          base::Logger& log,
                                                          obs::WriteMetrics& metrics) {
  if (!arguments.etcd_servers.empty()) {
    store::etcd::ClientOptions client;
    client.endpoints = arguments.etcd_servers;
    client.ca_file = arguments.etcd_cafile;
    client.cert_file = arguments.etcd_certfile;
    client.key_file = arguments.etcd_keyfile;
    store::etcd::EtcdOptions options;
    options.prefix = arguments.etcd_prefix;
    options.metrics = &metrics;
    auto engine = store::etcd::EtcdEngine::Open(client, options, ObjectSlots(), log, clock);
    if (!engine) return tl::unexpected(std::move(engine.error()));
    return std::unique_ptr<store::Engine>(*std::move(engine));
  }
  store::rocks::RocksOptions options;
  options.directory = StoreDirectory(settings.data_dir, /*to_make=*/true);
  options.history_bytes = static_cast<size_t>(arguments.history_bytes);
  options.metrics = &metrics;
  auto engine = store::rocks::RocksEngine::Open(options, log, clock);
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
  // Where Services will find the API server: the first address of each range.
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
                    fmt::format("--data-dir: cannot make {}: {}", directory, error.message()));
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

/// Certificates and tokens, read again.
void Reload(Node& node, const ServeArguments& arguments, const CredentialRequest& request,
            const base::Clock& clock, base::Logger& log) {
  const auto credentials = PrepareCredentials(request, clock, log);
  const auto reloaded = credentials ? node.Reload(credentials->tls, arguments.token_auth_file)
                                    : tl::unexpected(credentials.error());
  if (reloaded) {
    log.Info("read certificates and tokens again");
  } else {
    log.Error("cannot read certificates and tokens again; those before stay",
              {{"why", reloaded.error().message}});
  }
}

/// In single quotes if a shell would take it for anything but one plain word.
std::string ShellWord(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%,";
  if (text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

base::Result<void> Serve(const ServeArguments& arguments, const std::string& version) {
  const auto settings = CheckArguments(arguments);
  if (!settings) return tl::unexpected(settings.error());
  EndSignals signals;
  const base::SystemClock clock;
  base::Logger log({}, clock);
  if (auto made = MakeDataDir(settings->data_dir); !made) return made;
  obs::WriteMetrics writes;
  auto engine = OpenStoreFor(arguments, *settings, clock, log, writes);
  if (!engine) return tl::unexpected(std::move(engine.error()));
  if (auto whole = CheckWhole(**engine); !whole) return whole;
  CredentialRequest request = CredentialsFor(arguments, *settings);
  auto credentials = PrepareCredentials(request, clock, log);
  if (!credentials) return tl::unexpected(std::move(credentials.error()));
  auto node = Node::Start(*std::move(engine),
                          {.arguments = arguments,
                           .settings = *settings,
                           .tls = credentials->tls,
                           .shared = !arguments.etcd_servers.empty(),
                           .store_name = StoreName(arguments, *settings),
                           .version = version,
                           .writes = writes},
                          clock, log);
  if (!node) return tl::unexpected(std::move(node.error()));
  if (request.port == 0) {  // Any free one: now it is known which.
    request.port = (*node)->port();
    credentials = PrepareCredentials(request, clock, log);
    if (!credentials) return tl::unexpected(std::move(credentials.error()));
  }
  log.Info("serving", {{"address", arguments.bind_address}, {"port", (*node)->port()}});
  PrintOut(fmt::format("Berth {} serves {}. To use it:\n\n  export KUBECONFIG={}\n\n", version,
                       ServerUrl(request), ShellWord(credentials->kubeconfig)));
  while (signals.Next() == EndSignals::Wanted::kReload) {
    Reload(**node, arguments, request, clock, log);
  }
  log.Info("ending: watches are closed, requests under way are finished");
  if (!(*node)->Drain(kDrainLimit)) log.Warn("some requests did not finish in time");
  return {};
}

}  // namespace

int RunServe(const ServeArguments& arguments, const std::string& version) {
  const auto served = Serve(arguments, version);
  return served ? kFine : ReportError("serve", served.error());
}

}  // namespace berth::cli
