#include "controllers/bootstrap.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/kinds.h"
#include "base/log.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "controllers/range_status_keeper.h"
#include "registry/allocation_forms.h"
#include "registry/range_world.h"
#include "registry/records.h"
#include "rules/range_spec.h"

namespace berth::controllers {
namespace {

using base::Reason;
using codec::Value;
using registry::Target;

constexpr std::chrono::seconds kCheckEvery{10};

constexpr const char* kManager = "berth";
constexpr std::chrono::seconds kPatience{1};

/// A flag that asks for something else than what the store has.
struct FlagConflict {
  const char* reason;
  const char* flag;
  std::string asked;
  std::string stored = {};
  const char* what = "range";
  std::string how = "ranges are changed through the API";
};

Target TargetOf(const registry::Registry& registry, const api::Kind& kind, std::string name_space,
                std::string_view name) {
  const registry::Row* row = registry.GetKinds().FindRow(kind);
  return {.served = {.row = row, .view = row->views.data()},
          .name_space = std::move(name_space),
          .name = std::string(name)};
}

/// What `begin` comes to. It may wait for a fence that somebody left closed, and whose task it is
/// to open that does not run yet.
template <typename Begin>
base::Result<registry::Outcome> Wait(const BootstrapParts& parts, const Begin& begin) {
  const auto answer = std::make_shared<std::promise<base::Result<registry::Outcome>>>();
  begin(
      [answer](base::Result<registry::Outcome> outcome) { answer->set_value(std::move(outcome)); });
  std::future<base::Result<registry::Outcome>> outcome = answer->get_future();
  for (int seconds = 0; outcome.wait_for(kPatience) != std::future_status::ready; ++seconds) {
    if (seconds == 0) parts.log.Info("waiting for another change of ranges, or for the store");
    for (const auto pool : {alloc::PoolId::kIpv4, alloc::PoolId::kIpv6, alloc::PoolId::kPorts}) {
      parts.registry.Ranges().OpenIfStale(pool);
    }
  }
  return outcome.get();
}

/// Makes it if it is not there; the object as it is.
base::Result<Value> Ensure(const BootstrapParts& parts, const Target& target, const Value& object,
                           const char* manager) {
  const registry::Row& row = *target.served.row;
  const std::string key =
      parts.registry.GetResources().Key(row.resource, target.name_space, target.name);
  if (const auto found = parts.follower.Current()->Find(key)) {
    return registry::Registry::Decode(row, *found);
  }
  const auto made = Wait(parts, [&](registry::Done done) {
    parts.registry.Create(target, object, {.manager = manager, .in_any_form = true},
                          std::move(done));
  });
  if (made) return registry::Registry::Decode(row, *made->written.object);
  // Another replica was faster; such a refusal is only given when the picture shows why.
  const auto theirs = parts.follower.Current()->Find(key);
  if (made.error().reason == Reason::kAlreadyExists && theirs != nullptr) {
    return registry::Registry::Decode(row, *theirs);
  }
  return tl::unexpected(made.error());
}

base::Result<void> EnsureNamespaces(const BootstrapParts& parts) {
  for (const char* name : {"default", "kube-system", "kube-public"}) {
    const auto made = Ensure(parts, TargetOf(parts.registry, api::kNamespaceKind, {}, name),
                             codec::Object{{"metadata", codec::Object{{"name", name}}}}, kManager);
    if (!made) return tl::unexpected(made.error());
  }
  return {};
}

/// Somebody has asked for another range than the one that is in force: the log says so, and an
/// event at the range.
void WarnOfOther(const BootstrapParts& parts, const Target& target, const Value& range,
                 const FlagConflict& conflict) {
  parts.log.Warn(
      fmt::format("the store has another {} than the flag says, and the store's is in force",
                  conflict.what),
      {{"flag", conflict.flag}, {"asked", conflict.asked}, {"in_force", conflict.stored}});
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
                    {"source", codec::Object{{"component", kManager}}},
                    {"firstTimestamp", time},
                    {"lastTimestamp", time},
                    {"count", 1}};
  const auto raised = Wait(parts, [&](registry::Done done) {
    parts.registry.Create(TargetOf(parts.registry, api::kEventKind, "default", ""),
                          std::move(event), {.manager = kManager}, std::move(done));
  });
  if (!raised) parts.log.Warn("an event cannot be raised", {{"why", raised.error().message}});
}

/// Only a store that has nothing yet takes what the flag says.
base::Result<void> EnsureForm(const BootstrapParts& parts, const BootstrapOptions& options) {
  const registry::RecordRows rows = registry::RecordRowsOf(parts.registry.GetKinds());
  const state::SnapshotPtr picture = parts.follower.Current();
  const bool is_new = !picture->Seek(rows.service_cidrs->prefix).Valid() &&
                      !picture->Seek(rows.node_port_ranges->prefix).Valid();
  const auto form = is_new && options.bitmaps ? commit::AllocationForm::kBitmaps
                                              : commit::AllocationForm::kRecords;
  const std::string key = registry::kFormKey;
  const auto made = Ensure(
      parts, TargetOf(parts.registry, api::kRangeFenceKind, {}, key.substr(key.rfind('/') + 1)),
      registry::FormObject({.form = form}, parts.clock.Now()), kManager);
  if (!made) return tl::unexpected(made.error());
  return {};
}

/// An operator who asks for the other form is told that this is not the way.
void WarnOfForm(const BootstrapParts& parts, const BootstrapOptions& options) {
  const registry::RecordRows rows = registry::RecordRowsOf(parts.registry.GetKinds());
  const auto form = registry::FormIn(rows, *parts.follower.Current()).form;
  if (!options.asked_for_form || options.bitmaps == commit::BitmapsCount(form)) return;
  const auto text = [](bool bitmaps) {
    return fmt::format("ClusterIPAllocatorAPI={}", bitmaps ? "false" : "true");
  };
  const Target target =
      TargetOf(parts.registry, api::kServiceCidrKind, {}, registry::kDefaultServiceCidr);
  const auto cidr = parts.follower.Current()->Find(rows.service_cidrs->prefix + target.name);
  const auto object =
      cidr ? registry::Registry::Decode(*rows.service_cidrs, *cidr) : base::Result<Value>();
  WarnOfOther(
      parts, target, object.value_or(codec::Object()),
      {"ClusterIPAllocatorAPIInconsistent", "--feature-gates", text(options.bitmaps),
       text(!options.bitmaps), "form of allocations", "berth migrate-allocations changes it"});
}

base::Result<void> EnsureNodePorts(const BootstrapParts& parts, const BootstrapOptions& options) {
  const Value wanted = registry::NodePortRangeOf(options.node_ports);
  const Target target =
      TargetOf(parts.registry, api::kNodePortRangeKind, {}, rules::kNodePortRangeName);
  const auto stored = Ensure(parts, target, wanted, kManager);
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

/// A flag that names a second family beside what there is adds it, as in Kubernetes; and as there,
/// that it cannot be is no reason not to serve, but is said.
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
        {.manager = kManager, .in_any_form = true}, std::move(done));
  });
  if (updated) return registry::Registry::Decode(*target.served.row, *updated->written.object);
  conflict.reason = "KubernetesDefaultServiceCIDRError";
  conflict.how = updated.error().message;
  return stored;
}

/// The IPRanges come with the ServiceCIDR; a store may have one that is older than they are.
base::Result<void> EnsureRanges(const BootstrapParts& parts, const Value& cidr) {
  bool primary = true;
  for (const std::string& text : codec::Texts(codec::ArrayAt(cidr, "spec", "cidrs"))) {
    const auto parsed = ip::ParseCidr(text);
    if (!parsed) continue;
    const std::string_view name = rules::WellKnownRange(parsed->family());
    const auto made = Ensure(parts, TargetOf(parts.registry, api::kIpRangeKind, {}, name),
                             registry::IpRangeOf(name, text, primary), kManager);
    if (!made) return tl::unexpected(made.error());
    primary = false;
  }
  return {};
}

base::Result<void> EnsureCidr(const BootstrapParts& parts, const BootstrapOptions& options) {
  const Value wanted = registry::ServiceCidrOf(options.cidrs);
  const Target target =
      TargetOf(parts.registry, api::kServiceCidrKind, {}, registry::kDefaultServiceCidr);
  auto stored = Ensure(parts, target, wanted, kManager);
  if (!stored) return tl::unexpected(stored.error());
  if (options.asked_for_cidrs) {
    FlagConflict conflict{"KubernetesDefaultServiceCIDRInconsistent", "--service-cluster-ip-range",
                          CidrsText(wanted)};
    stored = AddSecondFamily(parts, target, *stored, wanted, conflict);
    if (!stored) return tl::unexpected(stored.error());
    conflict.stored = CidrsText(*stored);
    if (conflict.stored != conflict.asked) WarnOfOther(parts, target, *stored, conflict);
  }
  return EnsureRanges(parts, *stored);
}

/// So that it is right from the first answer on.
base::Result<void> EnsureStatus(const BootstrapParts& parts) {
  for (const auto& range : parts.allocations.RangesInForceOrNot()) {
    auto due = DueStatusOf(parts.registry, *parts.follower.Current(), range, parts.clock.Now());
    if (!due) continue;
    const auto written = Wait(parts, [&](registry::Done done) {
      parts.registry.Update(
          due->target, {.door = registry::Door::kStatus, .way = registry::Way::kPatch},
          [&due](const Value* current) -> base::Result<registry::Next> {
            registry::Next next{.object = *current};
            codec::SetAt(next.object, {"status"}, due->status);
            return next;
          },
          {.manager = kManager}, std::move(done));
    });
    if (!written && written.error().reason != Reason::kNotFound) {
      return tl::unexpected(written.error());
    }
  }
  return {};
}

/// A store of this process alone has nobody else: they are what it was before.
void ForgetOthers(const BootstrapParts& parts, const ReplicaFacts& replica) {
  if (parts.follower.AsksStore()) return;
  const registry::RecordRows rows = registry::RecordRowsOf(parts.registry.GetKinds());
  const state::SnapshotPtr picture = parts.follower.Current();
  for (auto at = picture->Seek(rows.replicas->prefix); at.Valid(); at.Next()) {
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
                           ReplicaOf(replica, parts.clock.Now()), kManager);
  if (!made) return tl::unexpected(made.error());
  return {};
}

Target KubernetesTarget(const registry::Registry& registry) {
  return TargetOf(registry, api::kServiceKind, "default", "kubernetes");
}

/// The first usable address of the well-known range of the family; nothing if there is none, or
/// nothing is taken from it.
std::optional<ip::Addr> FirstAddress(const commit::Allocations& allocations, ip::Family family) {
  for (const auto& range : allocations.Ranges(commit::PoolOf(family))) {
    const bool by_itself = range.name == rules::WellKnownRange(family);
    if (!by_itself && range.name != registry::kDefaultServiceCidr) continue;
    const auto& band = range.static_band ? range.static_band : range.dynamic_band;
    if (band && range.open) return ip::Addr(family, band->first);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> KubernetesService(const commit::Allocations& allocations,
                                       uint16_t secure_port) {
  const std::vector<ip::Family> families = allocations.Families();
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
  // Else it gets one of another range, like any Service.
  if (const auto address = FirstAddress(allocations, families.front())) {
    codec::SetAt(service, {"spec", "clusterIP"}, address->ToString());
  }
  return service;
}

base::Result<void> Bootstrap(const BootstrapParts& parts, const BootstrapOptions& options) {
  if (auto made = EnsureNamespaces(parts); !made) return made;
  if (auto made = Register(parts, options.replica); !made) return made;
  if (auto made = EnsureForm(parts, options); !made) return made;
  if (auto made = EnsureNodePorts(parts, options); !made) return made;
  if (auto made = EnsureCidr(parts, options); !made) return made;
  WarnOfForm(parts, options);
  if (parts.repair) {
    if (auto repaired = parts.repair(); !repaired) {
      return base::Fail(repaired.error().reason,
                        fmt::format("unable to perform initial IP and Port allocation check: {}",
                                    repaired.error().message));
    }
  }
  if (const auto service = KubernetesService(parts.allocations, options.secure_port)) {
    const auto made = Ensure(parts, KubernetesTarget(parts.registry), *service, kManager);
    // The address may be somebody else's by now: the keeper tries again, and the rest works.
    if (!made) {
      parts.log.Warn("default/kubernetes cannot be made", {{"why", made.error().message}});
    }
  }
  return EnsureStatus(parts);
}

KubernetesServiceKeeper::KubernetesServiceKeeper(const Context& context,
                                                 commit::Allocations& allocations,
                                                 uint16_t secure_port)
    : context_(context),
      allocations_(allocations),
      secure_port_(secure_port),
      target_(KubernetesTarget(context.registry)),
      due_(context.clock.Steady() + kCheckEvery) {}

bool KubernetesServiceKeeper::Work() {
  if (context_.clock.Steady() < due_ || !context_.writer.HasRoom()) return false;
  due_ = context_.clock.Steady() + kCheckEvery;
  const std::string key = context_.registry.GetResources().Key(target_.served.row->resource,
                                                               target_.name_space, target_.name);
  if (context_.follower.Current()->Find(key) != nullptr) return false;
  auto service = KubernetesService(allocations_, secure_port_);
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
