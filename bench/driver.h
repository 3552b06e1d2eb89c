// Keeps a number of transactions in flight and measures. The engine and the bare limit that it is
// compared with use the same driver, so that only the receiver of the transactions differs.
#pragma once

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "store/types.h"

namespace berth::bench {

using Submit = std::function<void(store::Txn, std::function<void(bool)>)>;

struct Figure {
  double per_second = 0;
  double p50_ms = 0;
  double p99_ms = 0;
  uint64_t failed = 0;
};

/// Makes a Service and its two records: 700 bytes of keys and values. A revision of 0 leaves out
/// the compare on the namespace.
inline store::Txn MakeTxn(uint64_t number, store::Revision name_space = {}) {
  store::Txn txn;
  const std::string service = fmt::format("/registry/services/specs/shop/cart-{:012}", number);
  const std::string address = fmt::format("/registry/ipaddresses/10.{:012}", number);
  const std::string port = fmt::format("/registry/allocation.berth.io/nodeports/{:012}", number);
  constexpr size_t kTogether = 700;
  constexpr size_t kRecord = 100;
  const size_t keys = service.size() + address.size() + port.size();
  txn.compares = {{service, {}}, {address, {}}, {port, {}}};
  if (name_space) txn.compares.push_back({"/registry/namespaces/shop", name_space});
  txn.puts.push_back({.key = address, .value = std::string(kRecord, 'a')});
  txn.puts.push_back({.key = port, .value = std::string(kRecord, 'p')});
  txn.puts.push_back({.key = service, .value = std::string(kTogether - keys - 2 * kRecord, 's')});
  return txn;
}

/// Runs for `duration` with `in_flight` transactions always in flight, numbered on from `number`.
inline Figure Drive(const Submit& submit, size_t in_flight, std::chrono::milliseconds duration,
                    uint64_t& number, store::Revision name_space = {}) {
  using Clock = std::chrono::steady_clock;
  base::Mutex mutex;
  base::CondVar ready;
  std::vector<std::pair<size_t, bool>> finished;
  std::vector<Clock::time_point> started(in_flight);
  std::vector<double> latencies;
  Figure figure;
  size_t under_way = 0;

  const auto send = [&](size_t slot) {
    ++under_way;
    started[slot] = Clock::now();
    submit(MakeTxn(number++, name_space), [&, slot](bool fine) {
      base::MutexLock lock(mutex);
      finished.emplace_back(slot, fine);
      ready.NotifyOne();
    });
  };
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end = begin + duration;
  Clock::time_point last = begin;
  for (size_t slot = 0; slot < in_flight; ++slot) send(slot);
  std::vector<std::pair<size_t, bool>> batch;
  while (under_way > 0) {
    {
      base::MutexLock lock(mutex);
      while (finished.empty()) ready.Wait(mutex);
      batch.swap(finished);
    }
    last = Clock::now();
    for (const auto& [slot, fine] : batch) {
      --under_way;
      if (!fine) ++figure.failed;
      latencies.push_back(std::chrono::duration<double, std::milli>(last - started[slot]).count());
      if (last < end) send(slot);
    }
    batch.clear();
  }
  const double seconds = std::chrono::duration<double>(last - begin).count();
  figure.per_second = static_cast<double>(latencies.size()) / seconds;
  std::sort(latencies.begin(), latencies.end());
  figure.p50_ms = latencies[latencies.size() / 2];
  figure.p99_ms = latencies[latencies.size() * 99 / 100];
  return figure;
}

/// Returns the value, or ends the program, because a benchmark that cannot begin measures nothing.
template <typename T>
T OrDie(base::Result<T> result) {
  if (result) return *std::move(result);
  fmt::print(stderr, "{}\n", result.error().message);
  std::exit(1);
}

inline double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Prints one line of JSON for bench/store_report.py.
inline void Print(const std::string& name, const Figure& figure) {
  fmt::print(
      "{{\"name\":\"{}\",\"per_second\":{:.1f},\"p50_ms\":{:.3f},\"p99_ms\":{:.3f},"
      "\"failed\":{}}}\n",
      name, figure.per_second, figure.p50_ms, figure.p99_ms, figure.failed);
  std::fflush(stdout);
}

/// Returns the resident memory of this process, in bytes.
inline size_t ResidentBytes() {
  size_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*s %zu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * 4096;
}

}  // namespace berth::bench
