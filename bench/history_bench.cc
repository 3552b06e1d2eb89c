// Measures a history: SERVICES are listed, and then replaced one by one until CHANGES are recorded.
// Prints the bytes on the disk, the time of writing, the time of questions, and the memory.
//
//   history_bench [SERVICES] [CHANGES]
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/temp_dir.h"
#include "history/history.h"
#include "history/history_reader.h"

namespace berth {
namespace {

using history::History;
using history::HistoryReader;
using history::ServiceState;

double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double ResidentMiB() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

class Bench {
 public:
  Bench(uint64_t services, uint64_t changes) : services_(services), changes_(changes) {}

  int Run() {
    auto opened = History::Open({.directory = dir_.Path()}, clock_, log_);
    if (!opened) {
      fmt::print(stderr, "{}\n", opened.error().message);
      return 1;
    }
    history_ = *std::move(opened);
    const double before = ResidentMiB();
    auto start = std::chrono::steady_clock::now();
    history_->BeginList();
    for (uint64_t i = 0; i < services_; ++i) history_->Put(NewService(i));
    history_->EndList(1);
    fmt::print("list       {} Services with {} values in {:.2f} s, {:.1f} MiB of memory\n",
               services_, history_->stats().values, SecondsSince(start), ResidentMiB() - before);
    const uint64_t listed = history_->stats().bytes;
    start = std::chrono::steady_clock::now();
    Churn();
    if (!history_->Sync()) return 1;
    const double seconds = SecondsSince(start);
    const history::HistoryStats stats = history_->stats();
    const uint64_t churned = stats.changes - listed_changes_;
    fmt::print("changes    {} in {:.2f} s ({:.0f} a second)\n", churned, seconds,
               static_cast<double>(churned) / seconds);
    fmt::print("disk       {:.1f} MiB in {} files, {:.1f} bytes a change with checkpoints\n",
               static_cast<double>(stats.bytes) / (1 << 20), stats.segments,
               static_cast<double>(stats.bytes - listed) / static_cast<double>(churned));
    Ask();
    fmt::print("memory     {:.1f} MiB\n", ResidentMiB() - before);
    start = std::chrono::steady_clock::now();
    history_.reset();
    opened = History::Open({.directory = dir_.Path()}, clock_, log_);
    fmt::print("reopen     {:.2f} s\n", SecondsSince(start));
    return opened ? 0 : 1;
  }

 private:
  ServiceState NewService(uint64_t i) {
    ServiceState state{.owner = {.name_space = fmt::format("team-{:02}", i % 50),
                                 .name = fmt::format("service-{:06}", i),
                                 .uid = base::NewUuid(random_)},
                       .revision = ++revision_};
    state.holds.push_back({.value = {.pool = alloc::PoolId::kIpv4,
                                     .value = 0x0a600000 + base::Uniform(random_, 1 << 20)}});
    if (i % 4 == 0) {
      state.holds.push_back(
          {.value = {.pool = alloc::PoolId::kPorts, .value = 30000 + base::Uniform(random_, 2768)},
           .purpose = history::Purpose::kNodePort});
    }
    return state;
  }

  void Churn() {
    listed_changes_ = history_->stats().changes;
    for (uint64_t n = 0; history_->stats().changes - listed_changes_ < changes_; ++n) {
      clock_.Advance(std::chrono::milliseconds(50 + base::Uniform(random_, 5000)));
      history_->Put(NewService(base::Uniform(random_, services_)));
      if (n % 16 == 0) history_->Seen(revision_);
    }
  }

  void Ask() {
    const auto reader = HistoryReader::Open(dir_.Path());
    const base::WallTime end = clock_.Now();
    std::vector<double> times;
    for (int i = 0; i < 50; ++i) {
      const auto start = std::chrono::steady_clock::now();
      const auto held = reader->WhoHeld(
          {.pool = alloc::PoolId::kIpv4, .value = 0x0a600000 + base::Uniform(random_, 1 << 20)},
          end - std::chrono::seconds(base::Uniform(
                    random_,
                    static_cast<uint64_t>(end.time_since_epoch() / std::chrono::seconds(1)))));
      if (!held) std::abort();
      times.push_back(SecondsSince(start));
    }
    std::ranges::sort(times);
    fmt::print("whois      at a random time: median {:.1f} ms, slowest {:.1f} ms\n",
               times[times.size() / 2] * 1000, times.back() * 1000);
    auto start = std::chrono::steady_clock::now();
    if (!reader->HistoryOf({.pool = alloc::PoolId::kPorts, .value = 30001})) std::abort();
    fmt::print("history    of a value: {:.0f} ms\n", SecondsSince(start) * 1000);
    start = std::chrono::steady_clock::now();
    if (!reader->HistoryOfService("team-01", "service-000001")) std::abort();
    fmt::print("           of a Service: {:.0f} ms\n", SecondsSince(start) * 1000);
    start = std::chrono::steady_clock::now();
    if (!reader->UsePoints(alloc::PoolId::kIpv4, {.first = 0x0a600000, .last = 0x0a6fffff},
                           base::WallTime(), end, std::chrono::hours(1))) {
      std::abort();
    }
    fmt::print("use        over the whole time: {:.0f} ms\n", SecondsSince(start) * 1000);
  }

  const uint64_t services_;
  const uint64_t changes_;
  const base::TempDir dir_;
  base::ManualClock clock_;
  base::Logger log_{{}, clock_};
  base::SeededRandom random_{1};
  int64_t revision_ = 0;
  uint64_t listed_changes_ = 0;
  std::unique_ptr<History> history_;
};

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  const uint64_t services = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  const uint64_t changes = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1'000'000;
  return berth::Bench(services, changes).Run();
}
