#include "controllers/replica_register.h"

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "api/kinds.h"
#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::controllers {
namespace {

using codec::Value;

/// A third of how long the object lives without that.
constexpr std::chrono::seconds kRenewEvery{20};

}  // namespace

Value ReplicaOf(const ReplicaFacts& facts, base::WallTime now) {
  const auto text = [](bool on) { return on ? "true" : "false"; };
  codec::Object gates{{"ServiceIPStaticSubrange", text(facts.gates.static_ips)},
                      {"ServiceNodePortStaticSubrange", text(facts.gates.static_ports)},
                      {"ServiceLBNodePortControl", text(facts.gates.lb_node_ports)},
                      {"IPv6DualStack", text(facts.gates.dual_stack)}};
  return codec::Object{{"metadata", codec::Object{{"name", facts.id}}},
                       {"spec", codec::Object{{"version", facts.version},
                                              {"address", facts.address},
                                              {"gates", std::move(gates)},
                                              {"capabilities", codec::Array{"ranges"}},
                                              {"renewTime", codec::FormatTime(now)}}}};
}

void Unregister(registry::Registry& registry, const ReplicaFacts& facts,
                std::chrono::nanoseconds limit) {
  const registry::Row* row = registry.GetKinds().FindRow(api::kReplicaKind);
  const auto gone = std::make_shared<std::promise<void>>();
  registry.Delete({.served = {.row = row, .view = row->views.data()}, .name = facts.id}, {}, {},
                  [gone](const base::Result<registry::Outcome>&) { gone->set_value(); });
  gone->get_future().wait_for(limit);
}

ReplicaRegister::ReplicaRegister(const Context& context, ReplicaFacts facts)
    : context_(context), facts_(std::move(facts)), due_(context.clock.Steady() + kRenewEvery) {}

bool ReplicaRegister::Work() {
  if (facts_.id.empty() || context_.clock.Steady() < due_ || !context_.writer.HasRoom()) {
    return false;
  }
  due_ = context_.clock.Steady() + kRenewEvery;
  const registry::Row* row = context_.registry.GetKinds().FindRow(api::kReplicaKind);
  registry::Target target{.served = {.row = row, .view = row->views.data()}, .name = facts_.id};
  Value replica = ReplicaOf(facts_, context_.clock.Now());
  const auto stored = context_.follower.Current()->Find(row->prefix + facts_.id);
  const auto ignore = [](const base::Result<registry::Outcome>&) {};  // Next time.
  if (stored == nullptr) {
    context_.writer.Create(std::move(target), std::move(replica), ignore);
    return true;
  }
  const auto before = registry::Registry::Decode(*row, *stored);
  if (!before) return false;
  context_.writer.Update(
      std::move(target), registry::Door::kMain,
      std::string(codec::StringAt(*before, "metadata", "uid")),
      [replica = std::move(replica)](Value& object) { codec::CopyAt(object, replica, {"spec"}); },
      ignore);
  return true;
}

}  // namespace berth::controllers
