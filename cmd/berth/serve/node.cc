#include "berth/serve/node.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "allocation/allocator.h"
#include "allocation/ledger/ledger.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"
#include "berth/files.h"
#include "berth/serve/advertise.h"
#include "berth/serve/allocations_path.h"
#include "berth/serve/audit_path.h"
#include "berth/serve/node_metrics.h"
#include "berth/serve/snapshot_path.h"
#include "berth/store/open.h"
#include "codec/read.h"
#include "codec/slot.h"
#include "commit/sequencer.h"
#include "controllers/allocation_keeper.h"
#include "controllers/auditor.h"
#include "controllers/bootstrap.h"
#include "controllers/controllers.h"
#include "controllers/essentials.h"
#include "controllers/range_findings.h"
#include "obs/audit_log.h"
#include "obs/auditor_metrics.h"
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

constexpr std::chrono::seconds kGoodbye{1};
/// The first pass of the auditor delays the start by at most this time.
constexpr std::chrono::seconds kFirstPass{1};
constexpr size_t kWorkerThreads = 2;
constexpr size_t kMaxWaitingWork = 64;
constexpr const char* kFormGate = "ClusterIPAllocatorAPI";

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

/// Returns the host's name, as far as an object's name can contain it, with a random suffix that is
/// different at each start.
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

/// The parts of a node, in the order of their dependencies.
struct Node::Parts {
  Parts(std::unique_ptr<store::Engine> the_engine, const Options& options, const base::Clock& clock,
        base::Logger& log, server::TokenTable tokens, std::unique_ptr<obs::AuditLog> the_audit)
      : engine(std::move(the_engine)),
        audit(std::move(the_audit)),
        resources(kinds.MakeResources(SettingsOf(options.settings))),
        past(*engine, resources),
        hub(past, resources, {}),
        ledger(allocation::MakeRecordReader(allocation::RecordRowsOf(kinds),
                                            GatesOf(options.settings)),
               base::SeededRandom::FromKernel()),
        follower(*engine, resources, {&ledger, &hub},
                 {.shared_store = options.shared, .same = codec::SameApartFromSlot}, clock, log),
        workers(kWorkerThreads, kMaxWaitingWork),
        sequencer({*engine, follower, resources, clock, follower},
                  {.run = [this](const std::function<void()>& work) { RunBeside(work); },
                   .metrics = &options.writes}),
        allocator({.kinds = kinds,
                   .gates = GatesOf(options.settings),
                   .ledger = ledger,
                   .sequencer = sequencer,
                   .clock = clock,
                   .metrics = &allocator_metrics},
                  base::SeededRandom::FromKernel()),
        registry(
            kinds, resources, sequencer, allocator.Hooks(), [this] { return allocator.Settings(); },
            clock, base::SeededRandom::FromKernel()),
        replica{.id = ReplicaName(base::SeededRandom::FromKernel()),
                .version = options.version,
                .address = fmt::format("{}:{}", options.arguments.bind_address,
                                       options.arguments.secure_port),
                .advertised = Advertised(options),
                .port = SecurePort(options),
                .gates = GatesOf(options.settings)},
        controllers({.registry = registry,
                     .follower = follower,
                     .hub = hub,
                     .ledger = ledger,
                     .allocator = allocator,
                     .clock = clock,
                     .log = log,
                     .secure_port = SecurePort(options),
                     .replica = replica,
                     .findings = &range_findings,
                     .asked_cidrs = AskedCidrs(options)},
                    base::SeededRandom::FromKernel()),
        keeper({.registry = registry,
                .follower = follower,
                .ledger = ledger,
                .clock = clock,
                .log = log,
                .run = allocation::WaitFor(sequencer, clock),
                .gates = GatesOf(options.settings),
                .metrics = &repair_metrics},
               base::SeededRandom::FromKernel()),
        auditor({.follower = follower,
                 .follow_up = {.registry = registry,
                               .ledger = ledger,
                               .clock = clock,
                               .log = log,
                               .run = allocation::WaitFor(sequencer, clock),
                               .repair_metrics = &repair_metrics,
                               .metrics = &auditor_metrics,
                               .ranges = &range_findings,
                               .repair_bitmaps = [this] { keeper.AskRepair(); }}},
                std::chrono::seconds(options.arguments.auditor_interval),
                base::SeededRandom::FromKernel()),
        essentials(BootstrapParts(clock, log), BootstrapOptionsOf(options, replica)),
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
    api.AddPath(kAuditPath, [this](const server::CallPtr& call) { ServeAudit(auditor, call); });
    api.AddPath(kSnapshotPath, [this](const server::CallPtr& call) { snapshots.Serve(call); });
    options.writes.AddTo(metrics);
    allocator_metrics.AddTo(metrics);
    repair_metrics.AddTo(metrics);
    auditor_metrics.AddTo(metrics);
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
      return "reading the state from the store";
    });
    health.AddReady("bootstrap", [this]() -> std::optional<std::string> {
      if (bootstrapped) return std::nullopt;
      return "creating the first namespaces and ranges";
    });
    health.AddReady("essentials", [this]() -> std::optional<std::string> {
      if (!bootstrapped) return std::nullopt;  // They are being made.
      const auto lost = controllers::FindLost(registry, follower);
      return lost ? std::optional(lost->Text()) : std::nullopt;
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

  /// Decides writes that waited for another write of the same object. This runs on a worker, so
  /// that it does not block the follower's thread.
  void RunBeside(const std::function<void()>& work) {
    if (!workers.Run(work)) work();
  }

  /// Returns no CIDRs if the operator has not set the flag, and only the first one if this server
  /// ignores a second family.
  static std::vector<ip::Cidr> AskedCidrs(const Options& options) {
    const ServeArguments unasked;
    const bool asked =
        options.arguments.cluster_ip_range_given ||
        options.arguments.service_cluster_ip_range != unasked.service_cluster_ip_range;
    if (!asked) return {};
    std::vector<ip::Cidr> cidrs = options.settings.service_ranges;
    if (!GatesOf(options.settings).dual_stack && cidrs.size() > 1)
      cidrs.erase(cidrs.begin() + 1, cidrs.end());
    return cidrs;
  }

  controllers::BootstrapParts BootstrapParts(const base::Clock& clock, base::Logger& log) {
    return {.registry = registry,
            .follower = follower,
            .ledger = ledger,
            .allocator = allocator,
            .clock = clock,
            .log = log,
            .repair = [this] { return keeper.FirstPass(); },
            .tell = [this](std::string note) { notes.push_back(std::move(note)); }};
  }

  static controllers::BootstrapOptions BootstrapOptionsOf(
      const Options& options, const controllers::ReplicaFacts& replica) {
    const ServeArguments unasked;
    return {.cidrs = options.settings.service_ranges,
            .node_ports = options.settings.node_ports,
            .secure_port = SecurePort(options),
            .asked_for_cidrs = !AskedCidrs(options).empty(),
            .asked_for_ports =
                options.arguments.node_port_range_given ||
                options.arguments.service_node_port_range != unasked.service_node_port_range,
            .bitmaps = !options.settings.gates.at(kFormGate),
            .asked_for_form = options.arguments.feature_gates.find(kFormGate) != std::string::npos,
            .replica = replica};
  }

  base::Result<void> Bootstrap(const Options& options, const base::Clock& clock,
                               base::Logger& log) {
    auto made =
        controllers::Bootstrap(BootstrapParts(clock, log), BootstrapOptionsOf(options, replica));
    bootstrapped = made.has_value();
    return made;
  }

  static std::string Advertised(const Options& options) {
    const auto addr =
        AdvertisedAddress(options.arguments.advertise_address, options.arguments.bind_address);
    return addr ? addr->ToString() : std::string();
  }

  /// Returns the usual port if the kernel is to choose one, because it is not known yet.
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
  allocation::Ledger ledger;
  obs::AllocatorMetrics allocator_metrics{
      [this] { return FillOf(allocation::LedgerView(ledger).Shares()); }};
  state::Follower follower;
  server::Workers workers;
  commit::Sequencer sequencer;
  allocation::Allocator allocator;
  registry::Registry registry;
  const controllers::ReplicaFacts replica;
  controllers::RangeFindings range_findings;
  controllers::Controllers controllers;
  obs::RepairMetrics repair_metrics;
  controllers::AllocationKeeper keeper;
  obs::AuditorMetrics auditor_metrics{controllers::FindingKindNames(),
                                      controllers::RepairKindNames()};
  controllers::Auditor auditor;
  controllers::EssentialsKeeper essentials;
  server::Signals signals;
  server::Authenticator authenticator;
  server::Health health;
  SnapshotPath snapshots;
  std::vector<std::string> notes;  // Of the start.
  std::atomic<bool> bootstrapped = false;
  std::atomic<bool> draining = false;
  server::ApiServer api;
  http::Server web;
};

Node::Node(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

/// Stops all parts before any of them is destroyed, so that a late answer still finds its receiver.
Node::~Node() {
  parts_->web.Stop();
  parts_->essentials.AskToStop();
  parts_->auditor.Stop();
  parts_->keeper.Stop();
  parts_->controllers.Stop();
  controllers::Unregister(parts_->registry, parts_->replica, kGoodbye);
  parts_->sequencer.Close();
  parts_->essentials.Stop();
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
  parts->auditor.Start();
  parts->auditor.AwaitFirst(kFirstPass);
  if (auto started = parts->web.Start(); !started) {
    base::Error error = std::move(started.error());
    if (error.reason == Reason::kServiceUnavailable) {  // In use, or not of this machine.
      error.message += "; choose another with --bind-address or --secure-port";
    }
    return tl::unexpected(std::move(error));
  }
  parts->controllers.Start();
  parts->keeper.Start();
  parts->essentials.Start();
  return std::unique_ptr<Node>(new Node(std::move(parts)));
}

uint16_t Node::port() const { return parts_->web.port(); }

const std::vector<std::string>& Node::notes() const { return parts_->notes; }

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
