#include "controllers/bootstrap.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "allocation/allocation_forms.h"
#include "allocation/fences.h"
#include "allocation/forms/work_lease.h"
#include "allocation/ledger/ledger_view.h"
#include "allocation/range_replicas.h"
#include "allocation/range_world.h"
#include "allocation/records.h"
#include "api/kinds.h"
#include "base/log.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "controllers/job_lease.h"
#include "controllers/kubernetes_endpoints.h"
#include "controllers/namespace_keeper.h"
#include "controllers/range_status_keeper.h"
#include "controllers/range_takeover.h"
#include "registry/kind_rows.h"
#include "rules/range_spec.h"

namespace berth::controllers {
namespace {

using base::Reason;
using codec::Value;
using registry::Target;

constexpr std::chrono::seconds kCheckEvery{10};
constexpr std::chrono::seconds kPatience{1};
constexpr const char* kCidrFlag = "--service-cluster-ip-range";

/// A flag that contradicts the store.
struct FlagConflict {
  const char* reason;
  const char* flag;
  std::string asked;
  std::string stored = {};
  const char* what = "range";
  std::string how =
      "ranges are changed through the API; to make the flags count, use berth reset-ranges";
};

Target TargetOf(const registry::Registry& registry, const api::Kind& kind, std::string name_space,
                std::string_view name) {
  const registry::Row* row = registry.GetKinds().FindRow(kind);
  return {.served = {.row = row, .view = row->views.data()},
          .name_space = std::move(name_space),
          .name = std::string(name)};
}

/// Returns the outcome of what `begin` starts. That may wait for a fence that was left closed. The
/// controller that opens such fences does not run yet, so this function does it.
template <typename T = registry::Outcome, typename Begin>
base::Result<T> Wait(const BootstrapParts& parts, const Begin& begin) {
  const auto answer = std::make_shared<std::promise<base::Result<T>>>();
  begin([answer](base::Result<T> outcome) { answer->set_value(std::move(outcome)); });
  std::future<base::Result<T>> outcome = answer->get_future();
  for (int seconds = 0; outcome.wait_for(kPatience) != std::future_status::ready; ++seconds) {
    if (seconds == 0) parts.log.Info("waiting for another change of ranges, or for the store");
    for (const auto pool : {alloc::PoolId::kIpv4, alloc::PoolId::kIpv6, alloc::PoolId::kPorts}) {
      parts.allocator.Ranges().OpenIfStale(pool, *parts.follower.Current());
    }
  }
  return outcome.get();
}

/// Creates the object if it does not exist. Returns the stored object.
base::Result<Value> Ensure(const BootstrapParts& parts, const Target& target, const Value& object,
                           const char* manager) {
  const registry::Row& row = *target.served.row;
  const std::string key =
      parts.registry.GetResources().Key(row.resource, target.name_space, target.name);
  if (const auto found = parts.follower.Current()->Find(key)) {
    return registry::Registry::Decode(row, *found);
  }
  const auto made = Wait(parts, [&](registry::Done done) {
    parts.registry.Create(target, object, {.manager = manager, .bootstraps = true},
                          std::move(done));
  });
  if (made) return registry::Registry::Decode(row, *made->written.object);
  // Another replica was faster. This refusal is only given when the snapshot shows the object.
  const auto theirs = parts.follower.Current()->Find(key);
  if (made.error().reason == Reason::kAlreadyExists && theirs != nullptr) {
    return registry::Registry::Decode(row, *theirs);
  }
  return tl::unexpected(made.error());
}

base::Result<void> EnsureNamespaces(const BootstrapParts& parts) {
  for (const std::string_view name : kSystemNamespaces) {
    const auto made =
        Ensure(parts, TargetOf(parts.registry, api::kNamespaceKind, {}, name),
               codec::Object{{"metadata", codec::Object{{"name", name}}}}, registry::kOwnManager);
    if (!made) return tl::unexpected(made.error());
  }
  return {};
}

/// Warns in the log, and by an event about the range, that an operator has asked for another range
/// than the store has.
void WarnOfOther(const BootstrapParts& parts, const Target& target, const Value& range,
                 const FlagConflict& conflict) {
  parts.log.Warn(
      fmt::format("the store has another {} than the flag says, and the store's is in force",
                  conflict.what),
      {{"flag", conflict.flag},
       {"asked", conflict.asked},
       {"in_force", conflict.stored},
       {"help", conflict.how}});
  const api::Kind& kind = *target.served.row->kind;
  const base::WallTime now = parts.clock.Now();
  const std::string time = codec::FormatTime(now);
  const auto ticks = now.time_since_epoch().count();
  Value event =
      codec::Object{{"metadata", codec::Object{{"name", fmt::format("{}.{:x}", target.name, ticks)},
                                               {"namespace", "default"}}},
                    {"involvedObject",
                     codec::Object{{"apiVersion", fmt::format("{}/{}", kind.group, kind.version)},
                                   {"kind", kind.kind},
                                   {"name", target.name},
                                   {"uid", codec::StringAt(range, "metadata", "uid")}}},
                    {"type", "Warning"},
                    {"reason", conflict.reason},
                    {"message", fmt::format("{} asks for {}, but {} is in force: {}", conflict.flag,
                                            conflict.asked, conflict.stored, conflict.how)},
                    {"source", codec::Object{{"component", registry::kOwnManager}}},
                    {"firstTimestamp", time},
                    {"lastTimestamp", time},
                    {"count", 1}};
  const auto raised = Wait(parts, [&](registry::Done done) {
    parts.registry.Create(TargetOf(parts.registry, api::kEventKind, "default", ""),
                          std::move(event), {.manager = registry::kOwnManager}, std::move(done));
  });
  if (!raised) parts.log.Warn("cannot create an event", {{"why", raised.error().message}});
}

/// Only a new store takes the form from the flag. A store that has lost its note has the form of
/// what it holds.
base::Result<void> EnsureForm(const BootstrapParts& parts, const BootstrapOptions& options) {
  const allocation::RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  const state::SnapshotPtr snapshot = parts.follower.Current();
  const bool is_new = !snapshot->Seek(rows.service_cidrs->prefix).Valid() &&
                      !snapshot->Seek(rows.node_port_ranges->prefix).Valid();
  const bool has_bitmaps = snapshot->Seek(rows.bitmaps->prefix).Valid() &&
                           !snapshot->Seek(rows.ip_addresses->prefix).Valid() &&
                           !snapshot->Seek(rows.node_ports->prefix).Valid();
  const auto form = (is_new ? options.bitmaps : has_bitmaps) ? allocation::AllocationForm::kBitmaps
                                                             : allocation::AllocationForm::kRecords;
  const std::string key = allocation::kFormKey;
  const auto made = Ensure(
      parts, TargetOf(parts.registry, api::kRangeFenceKind, {}, key.substr(key.rfind('/') + 1)),
      allocation::FormObject({.form = form}, parts.clock.Now()), registry::kOwnManager);
  if (!made) return tl::unexpected(made.error());
  return {};
}

/// A change of ranges puts the fences of its pools. So only lost ones are created here.
base::Result<void> EnsureFences(const BootstrapParts& parts) {
  for (const auto pool : {alloc::PoolId::kIpv4, alloc::PoolId::kIpv6, alloc::PoolId::kPorts}) {
    const std::string key = allocation::FenceKey(pool);
    const auto made = Ensure(
        parts, TargetOf(parts.registry, api::kRangeFenceKind, {}, key.substr(key.rfind('/') + 1)),
        allocation::FenceObject(pool, nullptr, parts.clock.Now()), registry::kOwnManager);
    if (!made) return tl::unexpected(made.error());
  }
  return {};
}

/// Warns an operator who asks for the other form by the flag.
void WarnOfForm(const BootstrapParts& parts, const BootstrapOptions& options) {
  const allocation::RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  const auto form = allocation::FormIn(rows, *parts.follower.Current()).form;
  if (!options.asked_for_form || options.bitmaps == allocation::BitmapsCount(form)) return;
  const auto text = [](bool bitmaps) {
    return fmt::format("ClusterIPAllocatorAPI={}", bitmaps ? "false" : "true");
  };
  const Target target =
      TargetOf(parts.registry, api::kServiceCidrKind, {}, allocation::kDefaultServiceCidr);
  const auto cidr = parts.follower.Current()->Find(rows.service_cidrs->prefix + target.name);
  const auto object =
      cidr ? registry::Registry::Decode(*rows.service_cidrs, *cidr) : base::Result<Value>();
  WarnOfOther(
      parts, target, object.value_or(codec::Object()),
      {"ClusterIPAllocatorAPIInconsistent", "--feature-gates", text(options.bitmaps),
       text(!options.bitmaps), "form of allocations", "berth migrate-allocations changes it"});
}

base::Result<void> EnsureNodePorts(const BootstrapParts& parts, const BootstrapOptions& options) {
  const Value wanted = allocation::NodePortRangeOf(options.node_ports);
  const Target target =
      TargetOf(parts.registry, api::kNodePortRangeKind, {}, rules::kNodePortRangeName);
  const auto stored = Ensure(parts, target, wanted, registry::kOwnManager);
  if (!stored) return tl::unexpected(stored.error());
  const std::string asked(codec::StringAt(wanted, "spec", "range"));
  const std::string has(codec::StringAt(*stored, "spec", "range"));
  if (options.asked_for_ports && asked != has) {
    WarnOfOther(parts, target, *stored,
                {"NodePortRangeInconsistent", "--service-node-port-range", asked, has});
  }
  return {};
}

std::string CidrsText(const Value& object) {
  return fmt::format("{}", fmt::join(codec::Texts(codec::ArrayAt(object, "spec", "cidrs")), ","));
}

/// Adds a second family that the flag names, as Kubernetes does. As there, a failure is reported
/// but does not stop the server.
base::Result<Value> AddSecondFamily(const BootstrapParts& parts, const Target& target,
                                    const Value& stored, const Value& wanted,
                                    FlagConflict& conflict) {
  const codec::Array& has = codec::ArrayAt(stored, "spec", "cidrs");
  const codec::Array& asked = codec::ArrayAt(wanted, "spec", "cidrs");
  if (has.size() != 1 || asked.size() != 2 || has[0] != asked[0]) return stored;
  const auto updated = Wait(parts, [&](registry::Done done) {
    parts.registry.Update(
        target, {.way = registry::Way::kPatch},
        [&asked](const Value* current) -> base::Result<registry::Next> {
          registry::Next next{.object = *current};
          codec::SetAt(next.object, {"spec", "cidrs"}, asked);
          return next;
        },
        {.manager = registry::kOwnManager, .bootstraps = true}, std::move(done));
  });
  if (updated) return registry::Registry::Decode(*target.served.row, *updated->written.object);
  conflict.reason = "KubernetesDefaultServiceCIDRError";
  conflict.how = updated.error().message;
  return stored;
}

/// Creates the IPRanges. A ServiceCIDR brings them with it, unless it was stored before Berth had
/// them.
base::Result<void> EnsureRanges(const BootstrapParts& parts, const Value& cidr) {
  bool primary = true;
  for (const std::string& text : codec::Texts(codec::ArrayAt(cidr, "spec", "cidrs"))) {
    const auto parsed = ip::ParseCidr(text);
    if (!parsed) continue;
    const std::string_view name = rules::WellKnownRange(parsed->family());
    const auto made = Ensure(parts, TargetOf(parts.registry, api::kIpRangeKind, {}, name),
                             allocation::IpRangeOf(name, text, primary), registry::kOwnManager);
    if (!made) return tl::unexpected(made.error());
    primary = false;
  }
  return {};
}

/// Returns what the default ServiceCIDR is created with: the first ranges of the store, or those of
/// the flags in a new store.
std::vector<ip::Cidr> FirstCidrs(const BootstrapParts& parts, const BootstrapOptions& options) {
  const allocation::RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  auto stored =
      allocation::RangeWorld(rows, parts.allocator.Settings().gates, *parts.follower.Current())
          .FirstCidrs();
  return stored.empty() ? options.cidrs : stored;
}

/// Creates the default ServiceCIDR if it does not exist. If a replica cannot give out two families,
/// that is this one or another one, a new store begins with the first.
base::Result<Value> MakeCidr(const BootstrapParts& parts, const BootstrapOptions& options,
                             const Target& target) {
  const std::vector<ip::Cidr> cidrs = FirstCidrs(parts, options);
  const std::span<const ip::Cidr> all = cidrs;
  if (options.replica.gates.dual_stack || all.size() < 2) {
    auto made = Ensure(parts, target, allocation::ServiceCidrOf(all), registry::kOwnManager);
    if (made || made.error().reason != Reason::kConflict || all.size() < 2) return made;
  }
  return Ensure(parts, target, allocation::ServiceCidrOf(all.first(1)), registry::kOwnManager);
}

/// Returns whether the second CIDR of the flag is ignored because the gate is off here. Says so.
bool IgnoresSecond(const BootstrapParts& parts, const BootstrapOptions& options,
                   const Value& stored) {
  if (options.replica.gates.dual_stack || options.cidrs.size() < 2) return false;
  if (CidrsText(stored) != options.cidrs[0].ToString()) return false;
  parts.log.Warn("the second CIDR of the flag is ignored, because the gate IPv6DualStack is off",
                 {{"flag", kCidrFlag},
                  {"served", options.cidrs[0].ToString()},
                  {"ignored", options.cidrs[1].ToString()}});
  if (parts.tell) {
    parts.tell(fmt::format("IPv6DualStack=false: Services get addresses of {}; {} is ignored.",
                           options.cidrs[0].ToString(), options.cidrs[1].ToString()));
  }
  return true;
}

/// Lets the ranges of the flags take over from ranges that are on their way out. A refusal does not
/// stop the server, which tries again while it runs.
void TakeOverAtStart(const BootstrapParts& parts, const BootstrapOptions& options,
                     FlagConflict& conflict) {
  const allocation::RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  if (!AwaitsTakeover(rows, *parts.follower.Current(), options.cidrs)) return;
  const auto taken = Wait<void>(parts, [&](TakenOver done) {
    TakeOver({parts.registry, parts.follower, parts.allocator.Ranges()}, options.cidrs,
             std::move(done));
  });
  if (taken) {
    parts.log.Info("the ranges of the flags have taken over", {{"in_force", conflict.asked}});
    return;
  }
  conflict.how =
      fmt::format("this server takes over as soon as it can, but now: {}", taken.error().message);
}

base::Result<void> EnsureCidr(const BootstrapParts& parts, const BootstrapOptions& options) {
  const Value wanted = allocation::ServiceCidrOf(options.cidrs);
  const Target target =
      TargetOf(parts.registry, api::kServiceCidrKind, {}, allocation::kDefaultServiceCidr);
  auto stored = MakeCidr(parts, options, target);
  if (!stored) return tl::unexpected(stored.error());
  if (options.asked_for_cidrs && !IgnoresSecond(parts, options, *stored)) {
    FlagConflict conflict{"KubernetesDefaultServiceCIDRInconsistent", kCidrFlag, CidrsText(wanted)};
    stored = AddSecondFamily(parts, target, *stored, wanted, conflict);
    if (!stored) return tl::unexpected(stored.error());
    TakeOverAtStart(parts, options, conflict);
    stored = Ensure(parts, target, wanted, registry::kOwnManager);  // As it is now.
    if (!stored) return tl::unexpected(stored.error());
    conflict.stored = CidrsText(*stored);
    if (conflict.stored != conflict.asked) WarnOfOther(parts, target, *stored, conflict);
  }
  return EnsureRanges(parts, *stored);
}

/// Returns the counts of a range as it is stored. While a fence is closed, the ledger does not
/// count all values of the range, and no controller opens the fence yet. Returns nullopt if the
/// range is being changed: that change writes its status.
std::optional<allocation::RangeState> CountsAsStored(const BootstrapParts& parts,
                                                     const state::Snapshot& snapshot,
                                                     const alloc::RangeTable& stored,
                                                     const allocation::RangeState& range) {
  if (range.closing)
    return allocation::LedgerView(parts.ledger).RangeIn(stored, range.kind, range.name);
  if (!AreCountsOf(snapshot, range)) return std::nullopt;
  return range;
}

/// Writes each status that is wrong, so that it is right from the first answer on. Another replica
/// that has this job and other gates is left to it: it would write its own status again.
base::Result<void> EnsureStatus(const BootstrapParts& parts, const ReplicaFacts& replica) {
  const state::SnapshotPtr snapshot = parts.follower.Current();
  const allocation::RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  const allocation::ReplicaSkew skew(allocation::ReplicasIn(rows, *snapshot));
  const allocation::WorkLease job(parts.registry, kRangeStatusJob);
  const bool differs = !skew.Of(replica.id).empty();
  if (differs && IsHeldByAnother(parts.registry, job, replica.id, *snapshot)) return {};
  const allocation::RangeWorld world(rows, parts.allocator.Settings().gates, *snapshot);
  const alloc::RangeTable stored = alloc::MakeRangeTable(world.Facts(), {});
  for (const auto& range : allocation::LedgerView(parts.ledger).RangesInForceOrNot()) {
    const auto counts = CountsAsStored(parts, *snapshot, stored, range);
    if (!counts) continue;
    const auto due = DueStatusOf(parts.registry, *counts,
                                 {.snapshot = *snapshot,
                                  .now = parts.clock.Now(),
                                  .skew = skew,
                                  .families = parts.ledger.Families()});
    if (!due) continue;
    const auto written = Wait(parts, [&](registry::Done done) {
      parts.registry.Update(
          due->target, {.door = registry::Door::kStatus, .way = registry::Way::kPatch},
          [&due](const Value* current) -> base::Result<registry::Next> {
            registry::Next next{.object = *current};
            due->ApplyTo(next.object);
            return next;
          },
          {.manager = registry::kOwnManager}, std::move(done));
    });
    if (!written && written.error().reason != Reason::kNotFound) {
      return tl::unexpected(written.error());
    }
  }
  return {};
}

/// Deletes other replicas if this process alone has the store: they are its former runs.
void ForgetOthers(const BootstrapParts& parts, const ReplicaFacts& replica) {
  if (parts.follower.AsksStore()) return;
  const allocation::RecordRows rows = allocation::RecordRowsOf(parts.registry.GetKinds());
  const state::SnapshotPtr snapshot = parts.follower.Current();
  for (auto at = snapshot->Seek(rows.replicas->prefix); at.Valid(); at.Next()) {
    const std::string name(at.Get()->Name());
    if (name == replica.id) continue;
    const auto gone = Wait(parts, [&](registry::Done done) {
      parts.registry.Delete(TargetOf(parts.registry, api::kReplicaKind, {}, name), {}, {},
                            std::move(done));
    });
    if (!gone) parts.log.Warn("an old replica stays for a while", {{"why", gone.error().message}});
  }
}

base::Result<void> Register(const BootstrapParts& parts, const ReplicaFacts& replica) {
  if (replica.id.empty()) return {};
  ForgetOthers(parts, replica);
  const auto made = Ensure(parts, TargetOf(parts.registry, api::kReplicaKind, {}, replica.id),
                           ReplicaOf(replica, parts.clock.Now()), registry::kOwnManager);
  if (!made) return tl::unexpected(made.error());
  return {};
}

Target KubernetesTarget(const registry::Registry& registry) {
  return TargetOf(registry, api::kServiceKind, "default", "kubernetes");
}

/// Makes the endpoints of default/kubernetes name this server. A failure does not stop the server,
/// since the keeper tries again.
void EnsureEndpoints(const BootstrapParts& parts, const ReplicaFacts& replica) {
  for (const EndpointsRepair& repair :
       DueRepairs(parts.registry, *parts.follower.Current(), replica)) {
    const auto done = Wait(parts, [&](registry::Done answer) {
      if (repair.kind == EndpointsRepair::Kind::kDelete) {
        return parts.registry.Delete(repair.target, {.uid = repair.uid}, {}, std::move(answer));
      }
      if (repair.kind == EndpointsRepair::Kind::kCreate) {
        return parts.registry.Create(repair.target, repair.wanted,
                                     {.manager = registry::kOwnManager}, std::move(answer));
      }
      parts.registry.Update(
          repair.target, {.way = registry::Way::kPatch},
          [&repair](const Value* current) -> base::Result<registry::Next> {
            registry::Next next{.object = *current};
            repair.ApplyTo(next.object);
            return next;
          },
          {.manager = registry::kOwnManager}, std::move(answer));
    });
    if (done || done.error().reason == Reason::kAlreadyExists) continue;
    parts.log.Warn("the endpoints of default/kubernetes cannot be written",
                   {{"why", done.error().message}});
  }
}

/// Returns the first usable address of the family's well-known range. Returns nullopt if there is
/// no such range, or if nothing is taken from it.
std::optional<ip::Addr> FirstAddress(const allocation::Ledger& ledger, ip::Family family) {
  for (const auto& range : allocation::LedgerView(ledger).Ranges(allocation::PoolOf(family))) {
    const bool by_itself = range.name == rules::WellKnownRange(family);
    if (!by_itself && range.name != allocation::kDefaultServiceCidr) continue;
    const auto& band = range.static_band ? range.static_band : range.dynamic_band;
    if (band && range.open) return ip::Addr(family, band->first);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> KubernetesService(const allocation::Ledger& ledger, uint16_t secure_port) {
  const std::vector<ip::Family> families = ledger.Families();
  if (families.empty()) return std::nullopt;
  Value service = codec::Object{
      {"metadata", codec::Object{{"name", "kubernetes"},
                                 {"namespace", "default"},
                                 {"labels", codec::Object{{"component", "apiserver"},
                                                          {"provider", "kubernetes"}}}}},
      {"spec", codec::Object{{"ports", codec::Array{codec::Object{{"name", "https"},
                                                                  {"protocol", "TCP"},
                                                                  {"port", 443},
                                                                  {"targetPort", secure_port}}}},
                             {"type", "ClusterIP"},
                             {"sessionAffinity", "None"},
                             {"ipFamilyPolicy", "SingleStack"}}}};
  // Otherwise it gets an address of another range, like any Service.
  if (const auto address = FirstAddress(ledger, families.front())) {
    codec::SetAt(service, {"spec", "clusterIP"}, address->ToString());
  }
  return service;
}

base::Result<void> EnsureEssentials(const BootstrapParts& parts, const BootstrapOptions& options) {
  if (auto made = EnsureNamespaces(parts); !made) return made;
  if (auto made = EnsureForm(parts, options); !made) return made;
  if (auto made = EnsureNodePorts(parts, options); !made) return made;
  if (auto made = EnsureCidr(parts, options); !made) return made;
  return EnsureFences(parts);
}

base::Result<void> Bootstrap(const BootstrapParts& parts, const BootstrapOptions& options) {
  if (auto made = EnsureNamespaces(parts); !made) return made;
  if (auto made = Register(parts, options.replica); !made) return made;
  if (auto made = EnsureEssentials(parts, options); !made) return made;
  WarnOfForm(parts, options);
  if (parts.repair) {
    if (auto repaired = parts.repair(); !repaired) {
      return base::Fail(repaired.error().reason,
                        fmt::format("unable to perform initial IP and Port allocation check: {}",
                                    repaired.error().message));
    }
  }
  if (const auto service = KubernetesService(parts.ledger, options.secure_port)) {
    const auto made =
        Ensure(parts, KubernetesTarget(parts.registry), *service, registry::kOwnManager);
    // Another Service may have the address by now. The keeper tries again, and everything else
    // works.
    if (!made) {
      parts.log.Warn("default/kubernetes cannot be made", {{"why", made.error().message}});
    }
  }
  EnsureEndpoints(parts, options.replica);
  return EnsureStatus(parts, options.replica);
}

KubernetesServiceKeeper::KubernetesServiceKeeper(const Context& context, allocation::Ledger& ledger,
                                                 uint16_t secure_port)
    : context_(context),
      ledger_(ledger),
      secure_port_(secure_port),
      target_(KubernetesTarget(context.registry)),
      due_(context.clock.Steady() + kCheckEvery) {}

bool KubernetesServiceKeeper::Work() {
  if (context_.clock.Steady() < due_ || !context_.writer.HasRoom()) return false;
  due_ = context_.clock.Steady() + kCheckEvery;
  const std::string key = context_.registry.GetResources().Key(target_.served.row->resource,
                                                               target_.name_space, target_.name);
  if (context_.follower.Current()->Find(key) != nullptr) return false;
  auto service = KubernetesService(ledger_, secure_port_);
  if (!service) return false;
  context_.writer.Create(target_, *std::move(service),
                         [&log = context_.log](const base::Result<registry::Outcome>& made) {
                           if (made || made.error().reason == Reason::kAlreadyExists) return;
                           log.Warn("default/kubernetes cannot be made",
                                    {{"why", made.error().message}});
                         });
  return true;
}

}  // namespace berth::controllers
