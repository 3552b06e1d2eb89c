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
#include "registry/records.h"

namespace berth::controllers {
namespace {

using base::Reason;
using codec::Value;
using registry::Target;

constexpr std::chrono::seconds kCheckEvery{10};

constexpr const char* kManager = "berth";

Target TargetOf(const registry::Registry& registry, const api::Kind& kind, std::string name_space,
                std::string_view name) {
  const registry::Row* row = registry.GetKinds().FindRow(kind);
  return {.served = {.row = row, .view = row->views.data()},
          .name_space = std::move(name_space),
          .name = std::string(name)};
}

/// What `begin` comes to.
template <typename Begin>
base::Result<registry::Outcome> Wait(const Begin& begin) {
  const auto answer = std::make_shared<std::promise<base::Result<registry::Outcome>>>();
  begin(
      [answer](base::Result<registry::Outcome> outcome) { answer->set_value(std::move(outcome)); });
  return answer->get_future().get();
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
  const auto made = Wait([&](registry::Done done) {
    parts.registry.Create(target, object, {.manager = manager}, std::move(done));
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

void WarnIfOther(base::Logger& log, const char* flag, const std::string& asked,
                 const std::string& stored) {
  if (asked == stored) return;
  log.Warn("the store has another range than the flag says, and the store's is in force",
           {{"flag", flag}, {"asked", asked}, {"in_force", stored}});
}

base::Result<void> EnsureNodePorts(const BootstrapParts& parts, const BootstrapOptions& options) {
  const Value wanted = registry::NodePortRangeOf(options.node_ports);
  const auto stored = Ensure(
      parts, TargetOf(parts.registry, api::kNodePortRangeKind, {}, registry::kDefaultNodePortRange),
      wanted, kManager);
  if (!stored) return tl::unexpected(stored.error());
  if (!options.asked_for_ports) return {};
  WarnIfOther(parts.log, "--service-node-port-range",
              std::string(codec::StringAt(wanted, "spec", "range")),
              std::string(codec::StringAt(*stored, "spec", "range")));
  return {};
}

std::string CidrsText(const Value& object) {
  return fmt::format("{}", fmt::join(codec::Texts(codec::ArrayAt(object, "spec", "cidrs")), ","));
}

Value ReadyCondition(base::WallTime now) {
  return codec::Object{{"type", "Ready"},
                       {"status", "True"},
                       {"lastTransitionTime", codec::FormatTime(now)},
                       {"reason", ""},
                       {"message", "Kubernetes default Service CIDR is ready"}};
}

base::Result<void> EnsureCidr(const BootstrapParts& parts, const BootstrapOptions& options) {
  const Value wanted = registry::ServiceCidrOf(options.cidrs);
  const Target target =
      TargetOf(parts.registry, api::kServiceCidrKind, {}, registry::kDefaultServiceCidr);
  const auto stored = Ensure(parts, target, wanted, kManager);
  if (!stored) return tl::unexpected(stored.error());
  if (options.asked_for_cidrs) {
    WarnIfOther(parts.log, "--service-cluster-ip-range", CidrsText(wanted), CidrsText(*stored));
  }
  if (!codec::ArrayAt(*stored, "status", "conditions").empty()) return {};
  const auto ready = Wait([&](registry::Done done) {
    parts.registry.Update(
        target, {.door = registry::Door::kStatus, .way = registry::Way::kPatch},
        [&parts](const Value* current) -> base::Result<registry::Next> {
          Value next = *current;
          if (codec::ArrayAt(next, "status", "conditions").empty()) {
            codec::SetAt(next, {"status", "conditions"},
                         codec::Array{ReadyCondition(parts.clock.Now())});
          }
          return registry::Next{.object = std::move(next)};
        },
        {.manager = kManager}, std::move(done));
  });
  if (!ready) return tl::unexpected(ready.error());
  return {};
}

Target KubernetesTarget(const registry::Registry& registry) {
  return TargetOf(registry, api::kServiceKind, "default", "kubernetes");
}

/// The first usable address of the primary range.
std::optional<ip::Addr> FirstAddress(const commit::Allocations& allocations) {
  const std::vector<ip::Family> families = allocations.Families();
  if (families.empty()) return std::nullopt;
  for (const auto& range : allocations.Ranges()) {
    if (range.pool != commit::PoolOf(families.front())) continue;
    if (range.name != registry::kDefaultServiceCidr) continue;
    const auto& band = range.static_band ? range.static_band : range.dynamic_band;
    if (band) return ip::Addr(families.front(), band->first);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Value> KubernetesService(const commit::Allocations& allocations,
                                       uint16_t secure_port) {
  const auto address = FirstAddress(allocations);
  if (!address) return std::nullopt;
  return codec::Object{
      {"metadata", codec::Object{{"name", "kubernetes"},
                                 {"namespace", "default"},
                                 {"labels", codec::Object{{"component", "apiserver"},
                                                          {"provider", "kubernetes"}}}}},
      {"spec", codec::Object{{"ports", codec::Array{codec::Object{{"name", "https"},
                                                                  {"protocol", "TCP"},
                                                                  {"port", 443},
                                                                  {"targetPort", secure_port}}}},
                             {"clusterIP", address->ToString()},
                             {"type", "ClusterIP"},
                             {"sessionAffinity", "None"},
                             {"ipFamilyPolicy", "SingleStack"}}}};
}

base::Result<void> Bootstrap(const BootstrapParts& parts, const BootstrapOptions& options) {
  if (auto made = EnsureNamespaces(parts); !made) return made;
  if (auto made = EnsureNodePorts(parts, options); !made) return made;
  if (auto made = EnsureCidr(parts, options); !made) return made;
  const auto service = KubernetesService(parts.allocations, options.secure_port);
  if (!service) return {};
  const auto made = Ensure(parts, KubernetesTarget(parts.registry), *service, kManager);
  if (made) return {};
  // The address may be somebody else's by now: the keeper tries again, and the rest works.
  parts.log.Warn("default/kubernetes cannot be made", {{"why", made.error().message}});
  return {};
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
