// Compares the embedded engine with one bare group-commit thread that writes the same keys and
// values to RocksDB. They take turns. Usage: rocks_bench DIRECTORY ROUNDS. Prints one line of JSON
// per figure.
#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "driver.h"
#include "store/blocking.h"
#include "store/rocks/rocks_engine.h"

namespace berth::bench {
namespace {

constexpr size_t kInFlight[] = {1, 16, 64, 256};
constexpr std::chrono::milliseconds kDuration{1500};

/// Takes all waiting transactions, writes them as one batch, syncs once and replies. It does
/// nothing else.
class BareGroupCommit {
 public:
  BareGroupCommit(const std::string& directory, bool sync, size_t write_buffer_bytes) {
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = write_buffer_bytes;
    options.compression = rocksdb::kNoCompression;
    rocksdb::DB* db = nullptr;
    if (!rocksdb::DB::Open(options, directory, &db).ok()) std::abort();
    db_.reset(db);
    write_options_.sync = sync;
    thread_ = std::thread([this] { Run(); });
  }

  ~BareGroupCommit() {
    {
      base::MutexLock lock(mutex_);
      stop_ = true;
      ready_.NotifyOne();
    }
    thread_.join();
  }

  void Take(store::Txn txn, std::function<void(bool)> done) {
    base::MutexLock lock(mutex_);
    waiting_.emplace_back(std::move(txn), std::move(done));
    ready_.NotifyOne();
  }

 private:
  using Waiting = std::vector<std::pair<store::Txn, std::function<void(bool)>>>;

  void Run() {
    Waiting group;
    while (Next(group)) {
      rocksdb::WriteBatch batch;
      for (const auto& [txn, done] : group) {
        for (const store::Put& put : txn.puts) batch.Put(put.key, put.value);
      }
      const bool fine = db_->Write(write_options_, &batch).ok();
      for (const auto& [txn, done] : group) done(fine);
      group.clear();
    }
  }

  bool Next(Waiting& group) {
    base::MutexLock lock(mutex_);
    while (waiting_.empty() && !stop_) ready_.Wait(mutex_);
    group.swap(waiting_);
    return !group.empty();
  }

  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_options_;
  base::Mutex mutex_;
  base::CondVar ready_;
  Waiting waiting_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

void Round(const std::filesystem::path& directory, bool sync, base::Logger& log) {
  const base::SystemClock clock;
  store::rocks::RocksOptions options;
  options.directory = directory / "berth";
  options.sync = sync;
  std::filesystem::create_directories(directory);
  {
    BareGroupCommit bare(directory / "bare", sync, options.write_buffer_bytes);
    const auto engine = OrDie(store::rocks::RocksEngine::Open(options, log, clock));
    store::Txn name_space;
    name_space.puts.push_back({.key = "/registry/namespaces/shop", .value = "shop"});
    const store::Revision revision = store::CommitNow(*engine, name_space).puts.at(0);
    const char* mode = sync ? "fsync" : "no fsync";
    uint64_t bare_number = 0;
    uint64_t number = 0;
    for (const size_t in_flight : kInFlight) {
      const auto take = [&](store::Txn txn, std::function<void(bool)> done) {
        bare.Take(std::move(txn), std::move(done));
      };
      Print(fmt::format("bare/{}/{}", mode, in_flight),
            Drive(take, in_flight, kDuration, bare_number));
      const auto commit = [&](store::Txn txn, std::function<void(bool)> done) {
        engine->Commit(std::move(txn), [done = std::move(done)](const store::TxnReply& reply) {
          done(reply.outcome == store::Outcome::kCommitted);
        });
      };
      Print(fmt::format("berth/{}/{}", mode, in_flight),
            Drive(commit, in_flight, kDuration, number, revision));
    }
  }
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const berth::base::SystemClock clock;
  berth::base::Logger log({.minimum = berth::base::LogLevel::kWarn}, clock);
  const int rounds = std::atoi(argv[2]);
  for (int round = 0; round < rounds; ++round) {
    for (const bool sync : {true, false}) {
      berth::bench::Round(std::filesystem::path(argv[1]) / "round", sync, log);
    }
  }
}
