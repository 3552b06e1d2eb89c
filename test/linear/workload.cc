#include "linear/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>
#include <utility>
#include <variant>

#include "linear/linear_client.h"
#include "linear/watcher.h"
#include "store/blocking.h"

namespace berth::linear {
namespace {

using std::chrono::steady_clock;

/// Returns the highest revision in a reply, which a watcher has to reach.
store::Revision LastRevision(const History& history) {
  store::Revision last;
  for (const Operation& operation : history.operations) {
    const auto* reply = std::get_if<store::TxnReply>(&operation.reply);
    if (reply == nullptr || reply->outcome != store::Outcome::kCommitted) continue;
    for (const auto revision : reply->puts) last = std::max(last, revision);
    for (const auto revision : reply->deletes) last = std::max(last, revision);
  }
  return last;
}

/// Returns the revision to watch from. Retries for a while, since servers may be down.
base::Result<store::Revision> Beginning(store::Engine& engine, std::chrono::milliseconds patience) {
  const auto deadline = steady_clock::now() + patience;
  for (;;) {
    auto current = store::CurrentNow(engine);
    if (current || steady_clock::now() >= deadline) return current;
    constexpr std::chrono::milliseconds kPause{50};
    std::this_thread::sleep_for(kPause);
  }
}

void RunClient(Client& client, const WorkloadOptions& options, steady_clock::time_point end) {
  for (size_t i = 0; i < options.operations; ++i) {
    if (options.duration.count() != 0 && steady_clock::now() >= end) return;
    client.Step();
  }
}

}  // namespace

Recording RunWorkload(const std::vector<store::Engine*>& engines, const WorkloadOptions& options) {
  Recording recording;
  std::deque<Watcher> watchers;
  for (size_t i = 0; options.watch && i < engines.size(); ++i) {
    const std::string name = fmt::format("{}", i);
    const auto after = Beginning(*engines[i], options.watch_patience);
    if (after) {
      watchers.emplace_back(*engines[i], options.prefix, name, *after, options.decode,
                            options.seed + i);
    } else {
      recording.watches.push_back({.name = name, .error = after.error().message});
    }
  }

  const auto recorder = std::make_shared<Recorder>();
  const auto end = steady_clock::now() + options.duration;
  std::vector<std::thread> threads;
  for (size_t i = 0; i < options.clients; ++i) {
    threads.emplace_back([&, i] {
      Client client(i, *engines[i % engines.size()], options, recorder);
      RunClient(client, options, end);
    });
  }
  for (auto& thread : threads) thread.join();

  recording.history = recorder->Take();
  const store::Revision last = LastRevision(recording.history);
  for (auto& watcher : watchers) {
    recording.watches.push_back(watcher.Finish(last, steady_clock::now() + options.watch_patience));
  }
  return recording;
}

std::string CheckAll(const Recording& recording, Counts* counts, const CheckOptions& options) {
  const CheckResult result = Check(recording.history, options);
  if (counts != nullptr) {
    Counts own = Count(recording.history);
    own.longest_search = result.configurations;
    *counts += own;
  }
  std::string faults = result.explanation;
  for (const WatchRecord& watch : recording.watches) faults += CheckWatch(recording.history, watch);
  return faults;
}

}  // namespace berth::linear
