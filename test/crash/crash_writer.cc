// A program made to be killed. It opens the embedded engine, reports what it finds, and then writes
// from several threads until it is stopped from outside. It reports each attempt before it and each
// reply after it.
//
//   crash_writer dir=DIRECTORY log=FILE round=N [from=REVISION] [compact=REVISION] [seed=N]
//                [writers=N] [ops=N] [sync=0|1] [buffer=BYTES]
//
// With `ops`, each writer stops after this many attempts, and the program waits, idle, to be
// killed.
//
// The keys come in groups of a service and two records, as Berth writes them: created together if
// they do not exist, changed two at a time, and deleted together. Writers share the groups, so that
// some of them come too late and conflict.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/random.h"
#include "crash/oplog.h"
#include "store/blocking.h"
#include "store/rocks/rocks_engine.h"

namespace crash {
namespace {

namespace base = berth::base;
namespace store = berth::store;

constexpr uint64_t kGroups = 40;

struct Arguments {
  std::map<std::string, std::string> words;

  uint64_t Number(const std::string& name, uint64_t fallback) const {
    const auto it = words.find(name);
    return it == words.end() ? fallback : std::strtoull(it->second.c_str(), nullptr, 10);
  }
  int64_t Revision(const std::string& name) const { return static_cast<int64_t>(Number(name, 0)); }
};

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = std::min(word.find('='), word.size() - 1);
    arguments.words[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return arguments;
}

/// What the writers know about the store: the revision of each key, as far as replies have shown.
class View {
 public:
  void Set(const std::string& key, store::Revision revision) {
    base::MutexLock lock(mutex_);
    revisions_[key] = revision;
  }
  store::Revision Get(const std::string& key) const {
    base::MutexLock lock(mutex_);
    const auto it = revisions_.find(key);
    return it == revisions_.end() ? store::Revision{} : it->second;
  }

 private:
  mutable base::Mutex mutex_;
  std::map<std::string, store::Revision> revisions_ GUARDED_BY(mutex_);
};

class Writer {
 public:
  Writer(uint64_t round, uint64_t number, uint64_t seed, store::Engine& engine, View& view,
         OpLogWriter& log)
      : next_op_(round << 32 | number << 24),
        journal_(fmt::format("{}journal/{}", kPrefix, number)),
        random_(seed * 1000 + round * 100 + number),
        engine_(engine),
        view_(view),
        log_(log) {}

  void Run(uint64_t attempts) {
    for (uint64_t i = 0; i < attempts; ++i) {
      const Attempt attempt = Choose();
      store::Txn txn{.compares = attempt.compares, .puts = {}, .deletes = attempt.deletes};
      for (const auto& put : attempt.puts) {
        txn.puts.push_back({.key = put.key, .value = ValueOf(attempt.op, put.key, put.size)});
      }
      log_.Attempting(attempt);
      const store::TxnReply reply = store::CommitNow(engine_, txn);
      log_.Replied(attempt.op, txn, reply);
      Learn(txn, reply);
    }
  }

 private:
  size_t ChooseSize() {
    // Now and then a value does not fit into a block of the log.
    const bool big = base::Uniform(random_, 40) == 0;
    return kMinValue + 40 + base::Uniform(random_, big ? 60'000 : 500);
  }

  Attempt Choose() {
    const uint64_t group = base::Uniform(random_, kGroups);
    const std::string service = fmt::format("{}services/{}", kPrefix, group);
    const std::array<std::string, 2> records = {fmt::format("{}records/{}-a", kPrefix, group),
                                                fmt::format("{}records/{}-b", kPrefix, group)};
    const auto put = [this](const std::string& key) {
      return Attempt::Put{.key = key, .size = ChooseSize()};
    };
    Attempt attempt{.op = ++next_op_, .compares = {}, .puts = {}, .deletes = {}};
    const store::Revision known = view_.Get(service);
    attempt.compares.push_back({.key = service, .revision = known});
    if (!known) {
      for (const auto& key : records) {
        attempt.compares.push_back({.key = key, .revision = {}});
        attempt.puts.push_back(put(key));
      }
      attempt.puts.push_back(put(service));
      return attempt;
    }
    switch (base::Uniform(random_, 4)) {
      case 0:
        // At least one put must name the attempt.
        attempt.puts = {put(journal_)};
        attempt.deletes = {service, records[0], records[1]};
        break;
      case 1:
        attempt.puts = {put(service)};
        attempt.deletes = {records[1]};
        break;
      default:
        attempt.puts = {put(records[base::Uniform(random_, 2)]), put(service)};
        break;
    }
    return attempt;
  }

  void Learn(const store::Txn& txn, const store::TxnReply& reply) {
    if (reply.outcome == store::Outcome::kCommitted) {
      for (size_t i = 0; i < txn.puts.size(); ++i) view_.Set(txn.puts[i].key, reply.puts[i]);
      for (const std::string& key : txn.deletes) view_.Set(key, {});
    } else if (reply.outcome == store::Outcome::kConflict) {
      for (const auto& conflict : reply.conflicts) {
        view_.Set(txn.compares[conflict.compare].key,
                  conflict.current ? conflict.current->revision : store::Revision{});
      }
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  OpId next_op_;
  const std::string journal_;
  base::SeededRandom random_;
  store::Engine& engine_;
  View& view_;
  OpLogWriter& log_;
};

/// Reports the state, the state at `from`, and the events after it. Returns an empty text if all
/// went well, else the error.
std::string TellFound(store::Engine& engine, store::Revision from, View& view, OpLogWriter& log) {
  const auto now = store::ScanAll(engine, std::string(kPrefix));
  if (!now) return "scan: " + now.error().message;
  for (const auto& entry : now->entries) {
    log.Key(entry, false);
    view.Set(entry.key, entry.revision);
  }
  if (from) {
    const auto then = store::ScanAll(engine, std::string(kPrefix), from);
    if (!then) return "scan of the past: " + then.error().message;
    for (const auto& entry : then->entries) log.Key(entry, true);
  }
  const auto current = store::CurrentNow(engine);
  if (!current) return "current: " + current.error().message;
  store::WatchReader watch(engine, {.prefix = std::string(kPrefix), .after = from});
  const auto events =
      watch.UntilProgress(*current, std::chrono::steady_clock::now() + std::chrono::seconds(30));
  if (!events) return "watch: " + events.error().message;
  for (const auto& event : *events) log.Event(*event);
  log.Ready(*current);
  return "";
}

int Run(const Arguments& arguments) {
  OpLogWriter log(arguments.words.at("log"));
  const base::SystemClock clock;
  base::Logger logger({.minimum = base::LogLevel::kWarn}, clock);
  const auto engine = store::rocks::RocksEngine::Open(
      {.directory = arguments.words.at("dir"),
       .sync = arguments.Number("sync", 1) == 1,
       .write_buffer_bytes = arguments.Number("buffer", size_t{16} << 20)},
      logger, clock);
  if (!engine) {
    log.Error("open: " + engine.error().message);
    return 1;
  }
  View view;
  const store::Revision from{arguments.Revision("from")};
  if (const std::string fault = TellFound(**engine, from, view, log); !fault.empty()) {
    log.Error(fault);
    return 1;
  }
  if (const store::Revision upto{arguments.Revision("compact")}; upto) {
    (*engine)->Compact(upto, [](const auto&) {});
  }
  std::vector<std::thread> threads;
  const uint64_t writers = arguments.Number("writers", 8);
  for (uint64_t i = 0; i < writers; ++i) {
    threads.emplace_back([&, i] {
      Writer(arguments.Number("round", 1), i, arguments.Number("seed", 1), **engine, view, log)
          .Run(arguments.Number("ops", UINT64_MAX));
    });
  }
  for (auto& thread : threads) thread.join();
  if (writers == 0) return 0;
  log.Idle();
  for (;;) pause();
}

}  // namespace
}  // namespace crash

int main(int argc, char** argv) { return crash::Run(crash::Parse(argc, argv)); }
