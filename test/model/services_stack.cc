#include "model/services_stack.h"

#include <fmt/format.h>

#include <algorithm>

#include "allocation/ledger/ledger_view.h"
#include "allocation/records.h"
#include "codec/slot.h"
#include "codec/storage.h"
#include "ip/cidr.h"
#include "store/blocking.h"

namespace berth::model {
namespace {

std::string NameOf(const allocation::PoolValue& value) { return allocation::RecordName(value); }

allocation::PoolValue ValueOf(const std::string& text) {
  const auto address = ip::ParseAddr(text);
  if (address) return {.pool = allocation::PoolOf(address->family()), .value = address->bits()};
  return {.pool = allocation::PoolId::kPorts, .value = std::stoull(text)};
}

/// Returns the last revision that a transaction wrote, or 0 if it wrote nothing.
int64_t LastOf(const store::TxnReply& reply) {
  int64_t last = 0;
  for (const store::Revision& revision : reply.puts) last = std::max(last, revision.value);
  for (const store::Revision& revision : reply.deletes) last = std::max(last, revision.value);
  return last;
}

/// Returns whether stored bytes are those that were sent, apart from the slot that an engine notes
/// in them.
bool SameApartFromSlot(std::string_view key, std::string_view sent, std::string_view stored) {
  if (sent == stored) return true;
  std::string a(sent);
  std::string b(stored);
  codec::ClearSlot(key, a);
  codec::ClearSlot(key, b);
  return a == b;
}

/// Returns the expected state of a value in a range. An excluded value that a Service has counts as
/// taken.
alloc::State StateIn(const World& world, const Range& range, const std::string& value) {
  const Record* record = world.form.BitmapsCount() ? nullptr : world.RecordOf(value);
  const bool taken =
      record == nullptr ? world.IsHeld(value) : record->state == Record::State::kAllocated;
  if (taken) return alloc::State::kTaken;
  if (range.spec().excluded.contains(value)) return alloc::State::kExcluded;
  if (record == nullptr) return alloc::State::kFree;
  return record->state == Record::State::kCooling ? alloc::State::kCooling
                                                  : alloc::State::kReserved;
}

/// Formats the numbers of free, taken, reserved, cooling and excluded values.
std::string CountsText(const alloc::StateCounts& counts) {
  std::string text;
  for (const auto state : {alloc::State::kFree, alloc::State::kTaken, alloc::State::kReserved,
                           alloc::State::kCooling, alloc::State::kExcluded}) {
    text += (text.empty() ? "" : "/") + base::ToDecimal(counts[state]);
  }
  return text;
}

}  // namespace

int64_t SlowEngine::Send(size_t place) {
  Sent sent = std::move(commits_[place]);
  commits_.erase(commits_.begin() + static_cast<ptrdiff_t>(place));
  if (real_) {
    const store::TxnReply reply = store::CommitNow(engine_, std::move(sent.txn));
    replies_.push_back([done = std::move(sent.done), reply] { done(reply); });
    return LastOf(reply);
  }
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
  return 0;
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

SharedStore::SharedStore(const Ranges& ranges, Backend* the_backend) : backend(the_backend) {
  if (backend == nullptr) {
    memory = store::MemoryEngine::Make(
        {.fault = [this](const store::Txn&) { return std::exchange(fault, store::Fault::kNone); }},
        clock);
  }
  const allocation::RecordRows rows = allocation::RecordRowsOf(kinds);
  std::vector<ip::Cidr> cidrs;
  for (const std::string& text : ranges.Cidrs()) cidrs.push_back(ip::ParseCidr(text).value());
  Put(rows.service_cidrs->prefix + std::string(allocation::kDefaultServiceCidr),
      codec::EncodeStored(allocation::ServiceCidrOf(cidrs), *rows.service_cidrs->kind));
  for (const auto& [key, spec] : ranges.ToSpecs()) {
    const registry::Row& row =
        spec.pool == PoolOf::kPorts ? *rows.node_port_ranges : *rows.ip_ranges;
    const codec::Value object =
        codec::Object{{"metadata", codec::Object{{"name", spec.name}, {"generation", 1}}},
                      {"spec", SpecValue(spec)}};
    Put(row.prefix + spec.name, codec::EncodeStored(object, *row.kind));
  }
  Put(kinds.NamespaceRow().prefix + "shop",
      codec::EncodeStored(codec::Object{{"metadata", codec::Object{{"name", "shop"}}}},
                          api::kNamespaceKind));
}

void SharedStore::Put(const std::string& key, const std::string& value) {
  last_put = LastOf(store::CommitNow(At(0), {.puts = {{.key = key, .value = value}}}));
}

Server::Server(SharedStore& shared, const Options& options)
    : gates_(options.gates),
      engine_(shared.At(options.replica), shared.backend != nullptr),
      ledger_(allocation::MakeRecordReader(allocation::RecordRowsOf(shared.kinds), gates_),
              base::SeededRandom(options.seed)),
      follower_(std::make_unique<state::Follower>(
          engine_, shared.resources, std::vector<state::Listener*>{&ledger_},
          state::FollowerOptions{.shared_store = !options.alone, .same = SameApartFromSlot},
          shared.clock, shared.log)),
      sequencer_(std::make_unique<commit::Sequencer>(
          commit::SequencerParts{engine_, *follower_, shared.resources, shared.clock, *follower_},
          commit::SequencerOptions())),
      allocator_(std::make_unique<allocation::Allocator>(
          allocation::Allocator::Parts{.kinds = shared.kinds,
                                       .gates = gates_,
                                       .ledger = ledger_,
                                       .sequencer = *sequencer_,
                                       .clock = shared.clock},
          base::SeededRandom(options.seed + 1))),
      registry_(std::make_unique<registry::Registry>(
          shared.kinds, shared.resources, *sequencer_, allocator_->Hooks(),
          [this] { return allocator_->Settings(); }, shared.clock,
          base::SeededRandom(options.seed + 2))) {
  while (follower_->Pump()) {
  }
}

/// Writes in flight use the allocations, so they are stopped first.
Server::~Server() {
  sequencer_->Close();
  engine_.Clear();
  follower_->Stop();
  registry_.reset();
  allocator_.reset();
  sequencer_.reset();
  follower_.reset();
}

std::string Server::CheckIndexes(const World& world) const {
  const auto states = allocation::LedgerView(ledger_).Ranges();
  if (states.size() != world.cluster->All().size()) return "the index has other ranges";
  for (const auto& state : states) {
    std::string wrong = CheckRange(state, world);
    if (!wrong.empty()) return wrong;
  }
  for (const PoolOf pool : kAllPools) {
    for (const std::string& value : world.cluster->Values(pool)) {
      const allocation::PoolValue at = ValueOf(value);
      if (allocation::LedgerView(ledger_).IsHeld(at) == world.IsHeld(value)) continue;
      return fmt::format("the index is wrong about {}", NameOf(at));
    }
  }
  std::vector<std::string> families;
  for (const ip::Family family : ledger_.Families()) {
    families.emplace_back(ip::FamilyText(family));
  }
  return families == world.cluster->Families() ? "" : "the index has other families";
}

std::string Server::CheckRange(const allocation::RangeState& state, const World& world) const {
  const auto pool = static_cast<PoolOf>(state.pool);
  const RangeSpec named{.name = state.name, .pool = pool};
  const auto found = world.cluster->All().find(Cluster::KeyOf(named));
  if (found == world.cluster->All().end()) return "the index has a range " + state.name;
  const Range& range = *found->second;
  if (state.open != range.IsOpen()) return "the index is wrong about whether a range is open";
  const bool has_band = pool == PoolOf::kPorts ? gates_.static_ports : gates_.static_ips;
  alloc::StateCounts in_static;
  alloc::StateCounts in_dynamic;
  for (const std::string& value : range.values()) {
    const alloc::State is = StateIn(world, range, value);
    ++(range.IsStatic(value, has_band) ? in_static : in_dynamic)[is];
  }
  if (in_static == state.in_static && in_dynamic == state.in_dynamic) return "";
  return fmt::format("the index of {} ({}) does not agree with the store: {} and {}, not {} and {}",
                     state.name, state.text, CountsText(state.in_static),
                     CountsText(state.in_dynamic), CountsText(in_static), CountsText(in_dynamic));
}

}  // namespace berth::model
