#include "model/services_stack.h"

#include <fmt/format.h>

#include "codec/storage.h"
#include "ip/cidr.h"
#include "registry/records.h"
#include "store/blocking.h"

namespace berth::model {
namespace {

std::string NameOf(const commit::PoolValue& value) { return registry::RecordName(value); }

commit::PoolValue ValueOf(const std::string& text) {
  const auto address = ip::ParseAddr(text);
  if (address) return {.pool = commit::PoolOf(address->family()), .value = address->bits()};
  return {.pool = commit::PoolId::kPorts, .value = std::stoull(text)};
}

}  // namespace

void SlowEngine::Send(size_t place) {
  Sent sent = std::move(commits_[place]);
  commits_.erase(commits_.begin() + static_cast<ptrdiff_t>(place));
  const int id = next_++;
  in_store_->emplace(id, std::move(sent.done));
  engine_.Commit(
      std::move(sent.txn), [this, id, open = std::weak_ptr(in_store_)](store::TxnReply reply) {
        const auto waiting = open.lock();
        if (!waiting) return;
        auto found = waiting->extract(id);
        replies_.push_back(
            [done = std::move(found.mapped()), reply = std::move(reply)] { done(reply); });
      });
}

void SlowEngine::Reply(size_t place) {
  const auto call = std::move(replies_[place]);
  replies_.erase(replies_.begin() + static_cast<ptrdiff_t>(place));
  call();
}

void SlowEngine::Clear() {
  commits_.clear();
  in_store_ = std::make_shared<std::map<int, Done>>();
  replies_.clear();
}

SharedStore::SharedStore(const Cluster& cluster) {
  engine = store::MemoryEngine::Make(
      {.fault = [this](const store::Txn&) { return std::exchange(fault, store::Fault::kNone); }},
      clock);
  const registry::RecordRows rows = registry::RecordRowsOf(kinds);
  std::vector<ip::Cidr> cidrs;
  for (const std::string& text : cluster.ranges().Cidrs()) {
    cidrs.push_back(ip::ParseCidr(text).value());
  }
  Put(rows.service_cidrs->prefix + std::string(registry::kDefaultServiceCidr),
      codec::EncodeStored(registry::ServiceCidrOf(cidrs), *rows.service_cidrs->kind));
  const auto ports = ip::ParsePortRange(cluster.ranges().PortText()).value();
  Put(rows.node_port_ranges->prefix + std::string(registry::kDefaultNodePortRange),
      codec::EncodeStored(registry::NodePortRangeOf(ports), *rows.node_port_ranges->kind));
  Put(kinds.NamespaceRow().prefix + "shop",
      codec::EncodeStored(codec::Object{{"metadata", codec::Object{{"name", "shop"}}}},
                          api::kNamespaceKind));
}

void SharedStore::Put(const std::string& key, const std::string& value) {
  store::CommitNow(*engine, {.puts = {{.key = key, .value = value}}});
}

Server::Server(SharedStore& shared, const registry::Gates& gates, bool alone, uint64_t seed)
    : gates_(gates),
      engine_(*shared.engine),
      allocations_(registry::MakeRecordReader(registry::RecordRowsOf(shared.kinds), gates),
                   base::SeededRandom(seed)),
      addresses_(allocations_, registry::RecordRowsOf(shared.kinds), shared.clock,
                 base::SeededRandom(seed + 1)),
      follower_(std::make_unique<state::Follower>(
          engine_, shared.resources, std::vector<state::Listener*>{&allocations_},
          state::FollowerOptions{.shared_store = !alone}, shared.clock, shared.log)),
      sequencer_(std::make_unique<commit::Sequencer>(*follower_, commit::SequencerOptions())),
      registry_(std::make_unique<registry::Registry>(shared.kinds, shared.resources, *sequencer_,
                                                     addresses_, gates, shared.clock,
                                                     base::SeededRandom(seed + 2))) {
  while (follower_->Pump()) {
  }
}

/// Writes on their way know the allocations: they go first.
Server::~Server() {
  sequencer_->Close();
  engine_.Clear();
  follower_->Stop();
  registry_.reset();
  sequencer_.reset();
  follower_.reset();
}

std::string Server::CheckIndexes(const World& world, const Cluster& cluster) const {
  for (const auto& range : allocations_.Ranges()) {
    const auto which = static_cast<PoolOf>(range.pool);
    const Pool& pool = cluster.At(which);
    const size_t free = world.Free(pool);
    const size_t dynamic = world.FreeDynamic(pool, HasBand(which));
    const size_t total = pool.values.size();
    const size_t in_dynamic = total - (HasBand(which) ? pool.band : 0);
    const auto differs = [](const alloc::StateCounts& counts, size_t free_ones, size_t all) {
      return counts[alloc::State::kFree] != free_ones ||
             counts[alloc::State::kTaken] != all - free_ones;
    };
    if (differs(range.in_dynamic, dynamic, in_dynamic) ||
        differs(range.in_static, free - dynamic, total - in_dynamic)) {
      return fmt::format("the index of {} does not agree with the records: {} of {} are free there",
                         range.text,
                         base::ToDecimal(range.in_dynamic[alloc::State::kFree] +
                                         range.in_static[alloc::State::kFree]),
                         total);
    }
    for (const std::string& value : pool.values) {
      const commit::PoolValue at = ValueOf(value);
      if (allocations_.IsHeld(at) == world.records.contains(value)) continue;
      return fmt::format("the index is wrong about {}", NameOf(at));
    }
  }
  return "";
}

}  // namespace berth::model
