#include "obs/write_metrics.h"

#include <array>

namespace berth::obs {
namespace {

constexpr std::array kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                 0.05,   0.1,     0.25,   0.5,   1.0,    2.5,   5.0,  10.0};
constexpr std::array kTransactions = {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0};

}  // namespace

WriteMetrics::WriteMetrics()
    : commit(kSeconds),
      apply(kSeconds),
      store(kSeconds),
      store_shared(kTransactions, Histogram::Unit::kThings) {}

void WriteMetrics::AddTo(Metrics& metrics) const {
  const auto add = [&metrics](const char* name, const char* help, const Histogram& histogram) {
    metrics.Add({.name = name, .help = help, .type = MetricType::kHistogram},
                [&histogram](Samples& out) { out.Add(histogram); });
  };
  add("berth_commit_duration_seconds",
      "Seconds from the arrival of a write until it is durable and watchers have been notified",
      commit);
  add("berth_commit_apply_duration_seconds",
      "Seconds from the store's reply to a write until watchers have been notified", apply);
  add("berth_store_write_duration_seconds",
      "Seconds that one durable write of the store takes: RocksDB's with its sync, or etcd's",
      store);
  add("berth_store_write_transactions",
      "Number of transactions that share one durable write of the store", store_shared);
}

}  // namespace berth::obs
