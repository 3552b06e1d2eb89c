// Compares opening a store of many Services with reading the same files with bare RocksDB.
//   open_bench fill DIRECTORY SERVICES   creates it: a Service and its address record each
//   open_bench berth DIRECTORY           opens it with the embedded engine
//   open_bench bare DIRECTORY            opens it and reads every entry of its largest family
// The last two print one line of JSON: seconds, and the growth of resident memory.
#include <rocksdb/db.h>
#include <rocksdb/options.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "driver.h"
#include "store/rocks/rocks_engine.h"

namespace berth::bench {
namespace {

using std::chrono::steady_clock;

constexpr size_t kServiceBytes = 350;
constexpr size_t kRecordBytes = 150;
constexpr uint64_t kPerTxn = 100;
constexpr int kMaxUnderWay = 64;

std::unique_ptr<store::rocks::RocksEngine> Open(const std::string& directory, bool sync,
                                                base::Logger& log, const base::Clock& clock) {
  return OrDie(store::rocks::RocksEngine::Open({.directory = directory, .sync = sync}, log, clock));
}

void FillStore(store::Engine& engine, uint64_t services) {
  std::atomic<int> under_way = 0;
  for (uint64_t from = 0; from < services; from += kPerTxn) {
    store::Txn txn;
    for (uint64_t i = from; i < std::min(from + kPerTxn, services); ++i) {
      txn.puts.push_back({.key = fmt::format("/registry/ipaddresses/10.{:012}", i),
                          .value = std::string(kRecordBytes, 'a')});
      txn.puts.push_back(
          {.key = fmt::format("/registry/services/specs/team-{:03}/cart-{:012}", i % 100, i),
           .value = std::string(kServiceBytes, 's')});
    }
    while (under_way >= kMaxUnderWay) std::this_thread::yield();
    ++under_way;
    engine.Commit(std::move(txn), [&](const store::TxnReply& reply) {
      if (reply.outcome != store::Outcome::kCommitted) std::abort();
      --under_way;
    });
  }
  while (under_way > 0) std::this_thread::yield();
}

void Report(const char* name, double seconds, size_t bytes, uint64_t keys) {
  fmt::print("{{\"name\":\"{}/open\",\"seconds\":{:.3f},\"bytes\":{},\"keys\":{}}}\n", name,
             seconds, bytes, keys);
}

void OpenBare(const std::string& directory) {
  const size_t before = ResidentBytes();
  const auto begin = steady_clock::now();
  std::vector<std::string> names;
  const rocksdb::Options options;
  if (!rocksdb::DB::ListColumnFamilies(options, directory, &names).ok()) std::abort();
  std::vector<rocksdb::ColumnFamilyDescriptor> families;
  for (const std::string& name : names) families.emplace_back(name, rocksdb::ColumnFamilyOptions());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* db = nullptr;
  if (!rocksdb::DB::OpenForReadOnly(options, directory, families, &handles, &db).ok()) std::abort();
  uint64_t most = 0;
  for (rocksdb::ColumnFamilyHandle* handle : handles) {
    if (handle->GetName() != "data") continue;
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> entry(db->NewIterator(read, handle));
    for (entry->SeekToFirst(); entry->Valid(); entry->Next()) ++most;
  }
  Report("bare", SecondsSince(begin), ResidentBytes() - before, most);
  for (rocksdb::ColumnFamilyHandle* handle : handles) db->DestroyColumnFamilyHandle(handle);
  delete db;
}

void OpenBerth(const std::string& directory, base::Logger& log) {
  const base::SystemClock clock;
  const size_t before = ResidentBytes();
  const auto begin = steady_clock::now();
  const auto engine = Open(directory, /*sync=*/true, log, clock);
  Report("berth", SecondsSince(begin), ResidentBytes() - before, engine->KeyCount());
}

int Main(std::string_view mode, const std::string& directory, const char* services) {
  const base::SystemClock clock;
  base::Logger log({.minimum = base::LogLevel::kWarn}, clock);
  if (mode == "fill") {
    FillStore(*Open(directory, /*sync=*/false, log, clock), std::strtoull(services, nullptr, 10));
  } else if (mode == "berth") {
    OpenBerth(directory, log);
  } else {
    OpenBare(directory);
  }
  return 0;
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  return berth::bench::Main(argv[1], argv[2], argc > 3 ? argv[3] : "0");
}
