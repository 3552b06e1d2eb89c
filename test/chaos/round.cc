#include "chaos/round.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>
#include <variant>

#include "base/random.h"
#include "linear/watcher.h"
#include "store/blocking.h"
#include "store/testing/contract_fixture.h"

namespace berth::chaos {
namespace {

using std::chrono::steady_clock;

/// Slow enough that a round has some thousand operations, quick enough that there is always one in
/// flight when something breaks.
constexpr std::chrono::milliseconds kJitter{20};

/// A client continues after waiting this long, so that writers run even while nothing is answered.
constexpr std::chrono::milliseconds kClientPatience{1000};

linear::WorkloadOptions Workload(const RoundOptions& options) {
  return {.prefix = options.prefix,
          .clients = 9,
          .operations = 1'000'000,
          .duration = options.duration,
          .patience = kClientPatience,
          .jitter = kJitter,
          .seed = options.seed,
          .encode = store::contract::MakeValue,
          .decode = store::contract::Payload,
          .watch = false};
}

/// By then everything has been answered and seen, whatever has happened.
constexpr std::chrono::seconds kPatienceAtTheEnd{60};

/// Adds replies that came after the client had stopped waiting for them.
void AddLateReplies(const Journal& journal, linear::History& history) {
  uint64_t stamp = 0;
  for (const linear::Operation& operation : history.operations) {
    stamp = std::max(stamp, operation.called);
    if (operation.returned != linear::kNever) stamp = std::max(stamp, operation.returned);
  }
  for (linear::Operation& operation : history.operations) {
    const auto* txn = std::get_if<store::Txn>(&operation.request);
    if (txn == nullptr || txn->puts.empty() || operation.returned != linear::kNever) continue;
    auto reply = journal.ReplyOf(txn->puts[0]);
    if (!reply) continue;
    for (store::Conflict& conflict : reply->conflicts) {
      if (conflict.current)
        conflict.current->value = store::contract::Payload(conflict.current->value);
    }
    operation.reply = *std::move(reply);
    operation.returned = ++stamp;
  }
}

}  // namespace

Tally& Tally::operator+=(const Tally& other) {
  counts += other.counts;
  doubts.committed += other.doubts.committed;
  doubts.not_committed += other.doubts.not_committed;
  doubts.untold += other.doubts.untold;
  faults += other.faults;
  events += other.events;
  longest_gap = std::max(longest_gap, other.longest_gap);
  return *this;
}

std::string Describe(const Tally& tally) {
  return fmt::format(
      "{} faults; {}; in doubt: {} committed, {} not, {} deletes that cannot be attributed; "
      "longest time without a commit {} ms; {} events watched",
      tally.faults, linear::Describe(tally.counts), tally.doubts.committed,
      tally.doubts.not_committed, tally.doubts.untold, tally.longest_gap.count(), tally.events);
}

std::string RunRound(Arena& arena, const RoundOptions& options, Tally& tally) {
  Tally own;
  bool healed = false;
  arena.Commits().Start();
  // These replace the workload's own watchers, which would end before the last replies.
  std::deque<linear::Watcher> watchers;
  for (int i = 0; i < Arena::kReplicas; ++i) {
    const auto after = store::CurrentNow(arena.At(i));
    if (!after) return "a replica is not healthy at the start: " + after.error().message;
    watchers.emplace_back(arena.At(i), options.prefix, fmt::format("{}", i), *after,
                          store::contract::Payload, options.seed);
  }
  std::thread nemesis([&] {
    base::SeededRandom random(options.seed);
    const auto end = steady_clock::now() + options.duration;
    while (steady_clock::now() < end) {
      options.fault(arena, random);
      ++own.faults;
    }
    healed = arena.Heal();
  });
  linear::Recording recording = linear::RunWorkload(arena.Engines(), Workload(options));
  nemesis.join();
  std::string faults = healed ? "" : "the cluster or a replica does not come back\n";
  if (!arena.Commits().AwaitQuiet(kPatienceAtTheEnd)) faults += "a commit is never answered\n";
  AddLateReplies(arena.Commits(), recording.history);
  const auto current = store::CurrentNow(arena.At(0));
  if (!current) return faults + "the store cannot be read at the end: " + current.error().message;
  for (linear::Watcher& watcher : watchers) {
    recording.watches.push_back(watcher.Finish(*current, steady_clock::now() + kPatienceAtTheEnd));
  }
  faults += CheckRecording(arena, options.prefix, recording, own);
  tally += own;
  return faults;
}

std::string CheckRecording(Arena& arena, const std::string& prefix,
                           const linear::Recording& recording, Tally& tally) {
  std::string faults = linear::CheckAll(recording, &tally.counts);
  tally.longest_gap = std::max(tally.longest_gap, arena.Commits().LongestGap());
  const auto all = ReadHistory(arena, prefix, recording.watches.front().after);
  if (!all) return faults + "history cannot be read: " + all.error().message + "\n";
  faults += linear::CheckWatch(recording.history, *all);
  for (const linear::WatchRecord& watch : recording.watches) {
    tally.events += watch.events.size();
    faults += CompareWatches(watch, *all);
  }
  const Doubts doubts = CountDoubts(recording.history, *all);
  tally.doubts.committed += doubts.committed;
  tally.doubts.not_committed += doubts.not_committed;
  tally.doubts.untold += doubts.untold;

  const State expected = Replay(*all);
  const auto raw = ReadEtcd(arena, prefix);
  if (!raw) return faults + "etcd cannot be read: " + raw.error().message + "\n";
  faults += CompareStates("etcd", *raw, expected);
  for (int i = 0; i < Arena::kReplicas; ++i) {
    const auto page = store::ScanAll(arena.At(i), prefix);
    const std::string name = fmt::format("replica {}", i);
    faults += page ? CompareStates(name, ToState(page->entries), expected)
                   : fmt::format("{} cannot be read: {}\n", name, page.error().message);
  }
  return faults;
}

}  // namespace berth::chaos
