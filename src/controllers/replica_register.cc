#include "controllers/replica_register.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>

#include "allocation/range_replicas.h"
#include "api/kinds.h"
#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::controllers {
namespace {

using codec::Value;

/// A third of kReplicaTtl.
constexpr std::chrono::seconds kRenewEvery{20};

}  // namespace

Value ReplicaOf(const ReplicaFacts& facts, base::WallTime now) {
  const auto text = [](bool on) { return on ? "true" : "false"; };
  codec::Object gates{{std::string(allocation::kStaticIpsGate), text(facts.gates.static_ips)},
                      {std::string(allocation::kStaticPortsGate), text(facts.gates.static_ports)},
                      {std::string(allocation::kLbNodePortsGate), text(facts.gates.lb_node_ports)},
                      {std::string(allocation::kDualStackGate), text(facts.gates.dual_stack)}};
  return codec::Object{
      {"metadata", codec::Object{{"name", facts.id}}},
      {"spec", codec::Object{{"version", facts.version},
                             {"address", facts.address},
                             {"advertiseAddress", facts.advertised},
                             {"advertisePort", facts.port},
                             {"gates", std::move(gates)},
                             {"capabilities", codec::Array{allocation::kRangesCapability}},
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
    : context_(context),
      facts_(std::move(facts)),
      rows_(allocation::RecordRowsOf(context.registry.GetKinds())),
      due_(context.clock.Steady() + kRenewEvery) {}

void ReplicaRegister::OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) {
  const state::ObjectPtr& last = now == nullptr ? before : now;
  if (last != nullptr && last->Resource() == rows_.replicas->resource) look_ = true;
}

bool ReplicaRegister::Work() {
  const bool renews = context_.clock.Steady() >= due_;
  if (facts_.id.empty() || (!renews && !look_) || !context_.writer.HasRoom()) return false;
  look_ = false;
  const state::SnapshotPtr snapshot = context_.follower.Current();
  const state::ObjectPtr stored = snapshot->Find(rows_.replicas->prefix + facts_.id);
  const allocation::ReplicaSkew skew(allocation::ReplicasIn(rows_, *snapshot));
  const bool is_right = stored != nullptr && skew.Of(facts_.id) == skew_;
  if (!renews && is_right) return false;
  Tell(skew.Of(facts_.id));
  due_ = context_.clock.Steady() + kRenewEvery;
  Write(stored);
  return true;
}

void ReplicaRegister::Write(const state::ObjectPtr& stored) {
  Value replica = ReplicaOf(facts_, context_.clock.Now());
  codec::Array differing;
  for (const std::string& trait : skew_) differing.emplace_back(trait);
  if (!differing.empty()) codec::SetAt(replica, {"status", "skew"}, std::move(differing));
  const registry::Row& row = *rows_.replicas;
  registry::Target target{.served = {.row = &row, .view = row.views.data()}, .name = facts_.id};
  // A failed write is repeated the next time.
  const auto ignore = [](const base::Result<registry::Outcome>&) {};
  if (stored == nullptr) {
    context_.writer.Create(std::move(target), std::move(replica), ignore);
    return;
  }
  const auto before = registry::Registry::Decode(row, *stored);
  if (!before) return;
  context_.writer.Update(
      std::move(target), registry::Door::kMain,
      std::string(codec::StringAt(*before, "metadata", "uid")),
      [replica = std::move(replica)](Value& object) {
        codec::CopyAt(object, replica, {"spec"});
        codec::CopyAt(object, replica, {"status"});
      },
      ignore);
}

void ReplicaRegister::Tell(std::vector<std::string> skew) {
  if (skew == skew_) return;
  skew_ = std::move(skew);
  if (skew_.empty()) {
    context_.log.Info("the replicas agree about feature gates");
  } else {
    context_.log.Warn("other replicas run with other feature gates",
                      {{"here", fmt::format("{}", fmt::join(skew_, ","))}});
  }
}

}  // namespace berth::controllers
