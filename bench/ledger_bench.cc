// Measures what the ledger's following of the store costs: per event of a Service and its record,
// with and without the values that Services hold; and the memory of what Services hold.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "allocation/ledger/held_by_services.h"
#include "allocation/ledger/ledger.h"
#include "allocation/records.h"
#include "allocation/service_values.h"
#include "base/random.h"
#include "codec/decode.h"
#include "codec/read.h"
#include "registry/kind_rows.h"
#include "state/change.h"
#include "state/object.h"

namespace berth {
namespace {

using allocation::PoolId;
using allocation::PoolValue;

constexpr int64_t kServices = 200'000;

const registry::Kinds& Kinds() {
  static const registry::Kinds kinds;
  return kinds;
}
const allocation::RecordRows& Rows() {
  static const allocation::RecordRows rows = allocation::RecordRowsOf(Kinds());
  return rows;
}

PoolValue ValueOf(int64_t number) {
  return {.pool = PoolId::kIpv4, .value = 0x0A000001 + static_cast<uint64_t>(number)};
}

/// Returns a Service as it is after its create, with a label that may differ.
state::ObjectPtr Service(const state::Resources& resources, int64_t number, int label = 0) {
  const std::string address = allocation::RecordName(ValueOf(number));
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"cart-{0:06}","namespace":"shop",
      "uid":"c0ffee00-0000-4000-8000-{0:012}","creationTimestamp":"2026-11-15T17:17:39Z","labels":{{
      "app.kubernetes.io/name":"cart-{0:06}","tier":"{2}"}}}},"spec":{{"ports":[
      {{"name":"http","protocol":"TCP","port":80,"targetPort":8080}},
      {{"name":"https","protocol":"TCP","port":443,"targetPort":"https"}}],
      "selector":{{"app":"cart-{0:06}"}},"clusterIP":"{1}","clusterIPs":["{1}"],
      "type":"ClusterIP","sessionAffinity":"None","ipFamilies":["IPv4"],
      "ipFamilyPolicy":"SingleStack","internalTrafficPolicy":"Cluster"}}}})",
      number, address, label);
  const auto decoded = codec::DecodeJson(text, *Rows().services->kind->message);
  if (!decoded) std::abort();
  const std::string key = fmt::format("{}shop/cart-{:06}", Rows().services->prefix, number);
  return state::Object::Make(*resources.Find(key), 123'456,
                             registry::ToWireText(*Rows().services, decoded->object));
}

state::ObjectPtr Record(const state::Resources& resources, int64_t number) {
  const std::string name = fmt::format("cart-{:06}", number);
  const auto put = allocation::NewRecord(
      Rows(), {.name_space = "shop", .name = name, .uid = "c0ffee00-0000-4000-8000-000000000001"},
      {.value = ValueOf(number)}, "c0ffee00-0000-4000-8000-000000000002", {});
  return state::Object::Make(*resources.Find(put.key), 123'455, put.wire);
}

allocation::RecordReader Reader(bool services) {
  allocation::RecordReader reader = allocation::MakeRecordReader(Rows(), {});
  if (!services) reader.service = {};
  return reader;
}

/// Creates and deletes one of many Services, with its record: four events.
void CreateAndDelete(benchmark::State& state, bool services) {
  const state::Resources resources = Kinds().MakeResources();
  allocation::Ledger ledger(Reader(services), base::SeededRandom(1));
  std::vector<state::ObjectPtr> objects;
  std::vector<state::ObjectPtr> records;
  std::vector<state::Change> all;
  for (int64_t i = 0; i < kServices; ++i) {
    objects.push_back(Service(resources, i));
    records.push_back(Record(resources, i));
    all.push_back({.object = records.back()});
  }
  for (const state::ObjectPtr& object : objects) all.push_back({.object = object});
  ledger.OnReset(all, 1);
  base::SeededRandom random(1);
  for (auto _ : state) {
    const uint64_t at = base::Uniform(random, kServices);
    ledger.OnBatch({{.previous = objects[at]}, {.previous = records[at]}}, 2);
    ledger.OnBatch({{.object = records[at]}, {.object = objects[at]}}, 2);
  }
}
BENCHMARK_CAPTURE(CreateAndDelete, records_only, false);
BENCHMARK_CAPTURE(CreateAndDelete, with_services, true);

/// Changes a label of a Service.
void ChangeLabel(benchmark::State& state, bool services) {
  const state::Resources resources = Kinds().MakeResources();
  allocation::Ledger ledger(Reader(services), base::SeededRandom(1));
  state::ObjectPtr before = Service(resources, 7, 0);
  state::ObjectPtr after = Service(resources, 7, 1);
  ledger.OnBatch({{.object = before}}, 1);
  for (auto _ : state) {
    ledger.OnBatch({{.object = after, .previous = before}}, 2);
    std::swap(before, after);
  }
}
BENCHMARK_CAPTURE(ChangeLabel, records_only, false);
BENCHMARK_CAPTURE(ChangeLabel, with_services, true);

void ReadText(benchmark::State& state) {
  const state::ObjectPtr service = Service(Kinds().MakeResources(), 7);
  for (auto _ : state) {
    benchmark::DoNotOptimize(allocation::ValuesIn(*Rows().services, *service));
  }
}
BENCHMARK(ReadText);

void Memory(benchmark::State& state) {
  const auto allocated = [] {
    const struct mallinfo2 info = mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
  };
  const int64_t count = state.range(0);
  double bytes = 0;
  for (auto _ : state) {
    const double before = allocated();
    allocation::HeldByServices held;
    for (int64_t i = 0; i < count; ++i) held.Add(ValueOf(i).value, alloc::State::kTaken);
    bytes += allocated() - before;
  }
  state.counters["bytes"] =
      bytes / static_cast<double>(count) / static_cast<double>(state.iterations());
}
BENCHMARK(Memory)->Arg(100'000)->Arg(900'000)->Arg(1'000'000)->Iterations(1);

}  // namespace
}  // namespace berth

BENCHMARK_MAIN();
