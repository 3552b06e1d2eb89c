#include "chaos/checks.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <utility>
#include <variant>

#include "linear/watcher.h"
#include "store/blocking.h"
#include "store/etcd/revisions.h"
#include "store/testing/contract_fixture.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;
using store::contract::Payload;

namespace pb = etcdserverpb;

std::string Shown(const State& state, const std::string& key) {
  const auto found = state.find(key);
  if (found == state.end()) return "nothing";
  return fmt::format("{}@{}", found->second.value, found->second.revision.value);
}

std::string Shown(const store::Event& event) {
  const bool put = event.type == store::Event::Type::kPut;
  return fmt::format("{} of {}{}@{}", put ? "put" : "delete", event.key,
                     put ? " = " + event.value : "", event.revision.value);
}

bool Same(const store::Event& one, const store::Event& other) {
  return one.type == other.type && one.key == other.key && one.value == other.value &&
         one.revision == other.revision;
}

std::vector<store::Event> UpTo(const linear::WatchRecord& record, store::Revision upto) {
  std::vector<store::Event> events;
  for (const store::Event& event : record.events) {
    if (event.revision <= upto) events.push_back(event);
  }
  return events;
}

}  // namespace

State ToState(const std::vector<store::Entry>& entries) {
  State state;
  for (store::Entry entry : entries) {
    entry.value = Payload(entry.value);
    state[entry.key] = std::move(entry);
  }
  return state;
}

State Replay(const linear::WatchRecord& record) {
  State state;
  for (const store::Event& event : record.events) {
    if (event.type == store::Event::Type::kDelete) {
      state.erase(event.key);
    } else {
      state[event.key] = {.key = event.key, .value = event.value, .revision = event.revision};
    }
  }
  return state;
}

base::Result<State> ReadEtcd(Arena& arena, const std::string& prefix) {
  auto client = store::etcd::Client::Connect(arena.ClientOf(0), arena.Log(), arena.Clock());
  if (!client) return tl::unexpected(client.error());
  pb::RangeRequest request;
  request.set_key(prefix);
  request.set_range_end(store::etcd::PrefixEnd(prefix));
  using Reply = tl::expected<pb::RangeResponse, store::etcd::CallError>;
  store::Awaited<Reply> awaited;
  (*client)->Range(request, awaited.Setter());
  const Reply reply = awaited.Wait();
  if (!reply) return tl::unexpected(reply.error().error);
  const store::etcd::Revisions revisions(store::Revision{});
  const store::SlotCodec slots = store::contract::TestSlotCodec();
  std::vector<store::Entry> entries;
  for (const auto& kv : reply->kvs()) {
    entries.push_back(
        {.key = kv.key(),
         .value = kv.value(),
         .revision = revisions.At(kv.mod_revision(), slots.read(kv.key(), kv.value()))});
  }
  return ToState(entries);
}

base::Result<linear::WatchRecord> ReadHistory(Arena& arena, const std::string& prefix,
                                              store::Revision after) {
  const auto replica = arena.NewReplica(0);
  if (auto opened = replica->Open(); !opened) return tl::unexpected(opened.error());
  const auto current = store::CurrentNow(*replica);
  if (!current) return tl::unexpected(current.error());
  linear::Watcher watcher(*replica, prefix, "of a new replica", after, Payload, 1);
  return watcher.Finish(*current, std::chrono::steady_clock::now() + 60s);
}

std::string CompareStates(const std::string& name, const State& shown, const State& expected) {
  std::set<std::string> keys;
  for (const auto& [key, entry] : shown) keys.insert(key);
  for (const auto& [key, entry] : expected) keys.insert(key);
  std::string faults;
  for (const std::string& key : keys) {
    if (Shown(shown, key) == Shown(expected, key)) continue;
    faults += fmt::format("{} shows {} of {} instead of {}\n", name, Shown(shown, key), key,
                          Shown(expected, key));
  }
  return faults;
}

std::string CompareWatches(const linear::WatchRecord& one, const linear::WatchRecord& other) {
  const store::Revision upto = std::min(one.upto, other.upto);
  const auto left = UpTo(one, upto);
  const auto right = UpTo(other, upto);
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    if (i < left.size() && i < right.size() && Same(left[i], right[i])) continue;
    return fmt::format("event {} is a {} for watch {} and a {} for watch {} (both up to {})\n", i,
                       i < left.size() ? Shown(left[i]) : "nothing", one.name,
                       i < right.size() ? Shown(right[i]) : "nothing", other.name, upto.value);
  }
  return "";
}

Doubts CountDoubts(const linear::History& history, const linear::WatchRecord& all) {
  std::set<std::pair<std::string, std::string>> seen;
  for (const store::Event& event : all.events) seen.emplace(event.key, event.value);
  Doubts doubts;
  for (const linear::Operation& operation : history.operations) {
    if (!linear::IsOpen(operation)) continue;
    const auto& txn = std::get<store::Txn>(operation.request);
    if (txn.puts.empty()) {
      ++doubts.untold;
    } else if (seen.contains({txn.puts[0].key, txn.puts[0].value})) {
      ++doubts.committed;
    } else {
      ++doubts.not_committed;
    }
  }
  return doubts;
}

}  // namespace berth::chaos
