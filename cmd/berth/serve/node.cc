#include "berth/serve/node.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <functional>
#include <string_view>
#include <utility>

#include "berth/files.h"
#include "berth/serve/allocations_path.h"
#include "berth/serve/node_metrics.h"
#include "berth/serve/snapshot_path.h"
#include "codec/read.h"
#include "codec/slot.h"
#include "commit/allocations.h"
#include "commit/sequencer.h"
#include "controllers/allocation_keeper.h"
#include "controllers/bootstrap.h"
#include "controllers/controllers.h"
#include "obs/audit_log.h"
#include "registry/addresses.h"
#include "registry/records.h"
#include "registry/registry.h"
#include "server/api_server.h"
#include "server/signals.h"
#include "server/workers.h"
#include "state/follower.h"
#include "state/past.h"
#include "store/copy.h"
#include "watch/hub.h"

namespace berth::cli {
namespace {

using base::Reason;

constexpr std::chrono::minutes kLoadLimit{10};
constexpr std::chrono::seconds kGoodbye{1};
constexpr size_t kWorkerThreads = 2;
constexpr size_t kMaxWaitingWork = 64;
constexpr const char* kFormGate = "ClusterIPAllocatorAPI";

/// Engines note a slot in what is stored; otherwise it is what was sent.
bool SameApartFromSlot(std::string_view key, std::string_view sent, std::string_view stored) {
  if (sent == stored) return true;
  std::string cleared(stored);
  codec::ClearSlot(key, cleared);
  return cleared == sent;
}

base::Result<server::TokenTable> ReadTokens(const std::string& file) {
  if (file.empty()) return server::TokenTable();
  const auto text = ReadFlagFile("--token-auth-file", file);
  if (!text) return tl::unexpected(text.error());
  return server::ParseTokens(*text, file);
}

registry::Gates GatesOf(const ServeSettings& settings) {
  const auto on = [&settings](const char* gate) { return settings.gates.at(gate); };
  return {.static_ips = on("ServiceIPStaticSubrange"),
          .static_ports = on("ServiceNodePortStaticSubrange"),
          .lb_node_ports = on("ServiceLBNodePortControl"),
          .dual_stack = on("IPv6DualStack")};
}

registry::Settings SettingsOf(const ServeSettings& settings) {
  registry::Settings out;
  out.families.clear();
  for (const ip::Cidr& range : settings.service_ranges) out.families.push_back(range.family());
  return out;
}

obs::AuditOptions AuditOf(const ServeArguments& arguments, const ServeSettings& settings) {
  return {.path = arguments.audit_log_path.empty() ? settings.data_dir + "/audit.jsonl"
                                                   : arguments.audit_log_path,
          .max_bytes = static_cast<uint64_t>(arguments.audit_log_maxsize) << 20,
          .backups = static_cast<size_t>(arguments.audit_log_maxbackup)};
}

/// The host's name, as far as it can be part of an object's, and something that tells this start
/// from every other.
std::string ReplicaName(base::SeededRandom random) {
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = 0;
  std::string name;
  for (const char c : std::string_view(host.data()).substr(0, 100)) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0;
    name += letter ? static_cast<char>(std::tolower(static_cast<unsigned char>(c))) : '-';
  }
  while (!name.empty() && name.front() == '-') name.erase(0, 1);
  if (name.empty()) name = "berth";
  return fmt::format("{}-{}", name, base::NewUuid(random).substr(0, 8));
}

}  // namespace

/// In the order in which they need each other.
struct Node::Parts {
  Parts(std::unique_ptr<store::Engine> the_engine, const Options& options, const base::Clock& clock,
        base::Logger& log, server::TokenTable tokens, std::unique_ptr<obs::AuditLog> the_audit)
      : engine(std::move(the_engine)),
        audit(std::move(the_audit)),
        resources(kinds.MakeResources(SettingsOf(options.settings))),
        past(*engine, resources),
        hub(past, resources, {}),
        allocations(
            registry::MakeRecordReader(registry::RecordRowsOf(kinds), GatesOf(options.settings)),
            base::SeededRandom::FromKernel()),
        addresses(allocations, registry::RecordRowsOf(kinds), clock,
                  base::SeededRandom::FromKernel(), &allocator_metrics),
        follower(*engine, resources, {&allocations, &hub},
                 {.shared_store = options.shared, .same = SameApartFromSlot}, clock, log),
        workers(kWorkerThreads, kMaxWaitingWork),
        sequencer(follower, {.run = [this](const std::function<void()>& work) { RunBeside(work); },
                             .metrics = &options.writes}),
        registry(kinds, resources, sequencer, addresses, GatesOf(options.settings), clock,
                 base::SeededRandom::FromKernel()),
        replica{.id = ReplicaName(base::SeededRandom::FromKernel()),
                .version = options.version,
                .address = fmt::format("{}:{}", options.arguments.bind_address,
                                       options.arguments.secure_port),
                .gates = GatesOf(options.settings)},
        controllers({.registry = registry,
                     .follower = follower,
                     .hub = hub,
                     .allocations = allocations,
                     .clock = clock,
                     .log = log,
                     .secure_port = SecurePort(options),
                     .replica = replica},
                    base::SeededRandom::FromKernel()),
        keeper({.registry = registry,
                .follower = follower,
                .allocations = allocations,
                .clock = clock,
                .log = log,
                .run = controllers::WaitFor(sequencer),
                .metrics = &repair_metrics},
               base::SeededRandom::FromKernel()),
        authenticator(std::move(tokens)),
        snapshots(*engine, options.store_name, clock, log),
        api({.registry = registry,
             .follower = follower,
             .past = past,
             .hub = hub,
             .signals = signals,
             .workers = workers,
             .metrics = metrics,
             .clock = clock,
             .log = log},
            {.version = options.version,
             .max_reads = static_cast<size_t>(options.arguments.max_requests_inflight),
             .max_writes = static_cast<size_t>(options.arguments.max_mutating_requests_inflight)},
            authenticator, health, audit.get(), base::SeededRandom::FromKernel()),
        web(
            WebOptions(options),
            [this](http::Request request, http::Responder responder) {
              api.Handle(std::move(request), std::move(responder));
            },
            log, clock) {
    api.AddPath(kAllocationsPath,
                [this](const server::CallPtr& call) { ServeAllocations(keeper, call); });
    api.AddPath(kSnapshotPath, [this](const server::CallPtr& call) { snapshots.Serve(call); });
    options.writes.AddTo(metrics);
    allocator_metrics.AddTo(metrics);
    repair_metrics.AddTo(metrics);
    AddNodeMetrics({.engine = *engine,
                    .kinds = kinds,
                    .follower = follower,
                    .hub = hub,
                    .sequencer = sequencer,
                    .web = web,
                    .audit = audit.get(),
                    .version = options.version},
                   metrics);
    health.AddLive("ping", [] { return std::nullopt; });
    health.AddReady("store", [this]() -> std::optional<std::string> {
      const store::Health state = engine->GetHealth();
      if (state.writable) return std::nullopt;
      return state.why;
    });
    health.AddReady("picture", [this]() -> std::optional<std::string> {
      if (follower.Ready()) return std::nullopt;
      return "the state is being read from the store";
    });
    health.AddReady("bootstrap", [this]() -> std::optional<std::string> {
      if (bootstrapped) return std::nullopt;
      return "the first namespaces and ranges are being made";
    });
    health.AddReady("shutdown", [this]() -> std::optional<std::string> {
      if (!draining) return std::nullopt;
      return "process is shutting down";
    });
  }

  static http::ServerOptions WebOptions(const Options& options) {
    http::ServerOptions web;
    web.addresses = {options.arguments.bind_address};
    web.port = static_cast<uint16_t>(options.arguments.secure_port);
    web.tls = options.tls;
    web.on_error = server::ApiServer::BadRequest;
    return web;
  }

  /// Writes that waited for another one of the same object are decided on a worker, so that the
  /// thread that follows the store goes on.
  void RunBeside(const std::function<void()>& work) {
    if (!workers.Run(work)) work();
  }

  base::Result<void> Bootstrap(const Options& options, const base::Clock& clock,
                               base::Logger& log) {
    const ServeArguments unasked;
    auto made = controllers::Bootstrap(
        {.registry = registry,
         .follower = follower,
         .allocations = allocations,
         .clock = clock,
         .log = log,
         .repair = [this] { return keeper.FirstPass(); }},
        {.cidrs = options.settings.service_ranges,
         .node_ports = options.settings.node_ports,
         .secure_port = SecurePort(options),
         .asked_for_cidrs =
             options.arguments.service_cluster_ip_range != unasked.service_cluster_ip_range,
         .asked_for_ports =
             options.arguments.service_node_port_range != unasked.service_node_port_range,
         .bitmaps = !options.settings.gates.at(kFormGate),
         .asked_for_form = options.arguments.feature_gates.find(kFormGate) != std::string::npos,
         .replica = replica});
    bootstrapped = made.has_value();
    return made;
  }

  /// The port is not known yet when the kernel is to choose it.
  static uint16_t SecurePort(const Options& options) {
    constexpr uint16_t kUsual = 6443;
    const auto port = static_cast<uint16_t>(options.arguments.secure_port);
    return port == 0 ? kUsual : port;
  }

  const std::unique_ptr<store::Engine> engine;
  const std::unique_ptr<obs::AuditLog> audit;
  obs::Metrics metrics;
  const registry::Kinds kinds;
  const state::Resources resources;
  const state::Past past;
  watch::Hub hub;
  commit::Allocations allocations;
  obs::AllocatorMetrics allocator_metrics{[this] { return FillOf(allocations.Ranges()); }};
  registry::Addresses addresses;
  state::Follower follower;
  server::Workers workers;
  commit::Sequencer sequencer;
  registry::Registry registry;
  const controllers::ReplicaFacts replica;
  controllers::Controllers controllers;
  obs::RepairMetrics repair_metrics;
  controllers::AllocationKeeper keeper;
  server::Signals signals;
  server::Authenticator authenticator;
  server::Health health;
  SnapshotPath snapshots;
  std::atomic<bool> bootstrapped = false;
  std::atomic<bool> draining = false;
  server::ApiServer api;
  http::Server web;
};

Node::Node(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

/// Whoever may still have an answer to give gives it while those it goes to are there.
Node::~Node() {
  parts_->web.Stop();
  parts_->keeper.Stop();
  parts_->controllers.Stop();
  controllers::Unregister(parts_->registry, parts_->replica, kGoodbye);
  parts_->sequencer.Close();
  parts_->follower.Stop();
  parts_->workers.Stop();
}

base::Result<std::unique_ptr<Node>> Node::Start(std::unique_ptr<store::Engine> engine,
                                                const Options& options, const base::Clock& clock,
                                                base::Logger& log) {
  auto tokens = ReadTokens(options.arguments.token_auth_file);
  if (!tokens) return tl::unexpected(std::move(tokens.error()));
  std::unique_ptr<obs::AuditLog> audit;
  if (options.arguments.audit_log_path != "none") {
    auto opened = obs::AuditLog::Open(AuditOf(options.arguments, options.settings), log);
    if (!opened) return tl::unexpected(std::move(opened.error()));
    audit = *std::move(opened);
  }
  auto parts = std::make_unique<Parts>(std::move(engine), options, clock, log, *std::move(tokens),
                                       std::move(audit));
  parts->follower.Start();
  if (!parts->follower.WaitReady(kLoadLimit)) {
    return base::Fail(Reason::kServiceUnavailable,
                      fmt::format("cannot read the state from the store: {}",
                                  parts->follower.GetStats().trouble));
  }
  if (auto made = parts->Bootstrap(options, clock, log); !made)
    return tl::unexpected(std::move(made.error()));
  if (auto started = parts->web.Start(); !started) {
    base::Error error = std::move(started.error());
    if (error.reason == Reason::kServiceUnavailable) {  // Taken, or not this machine's.
      error.message += "; --bind-address and --secure-port choose another";
    }
    return tl::unexpected(std::move(error));
  }
  parts->controllers.Start();
  parts->keeper.Start();
  return std::unique_ptr<Node>(new Node(std::move(parts)));
}

uint16_t Node::port() const { return parts_->web.port(); }

base::Result<void> Node::Reload(const http::TlsSettings& tls, const std::string& token_file) {
  auto tokens = ReadTokens(token_file);
  if (!tokens) return tl::unexpected(std::move(tokens.error()));
  if (auto reloaded = parts_->web.ReloadTls(tls); !reloaded) return reloaded;
  parts_->authenticator.SetTokens(*std::move(tokens));
  return {};
}

bool Node::Drain(std::chrono::nanoseconds limit) {
  parts_->draining = true;
  return parts_->web.Drain(limit);
}

}  // namespace berth::cli
