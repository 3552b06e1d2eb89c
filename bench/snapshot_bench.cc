// Measures what an object of the snapshot costs, in memory and in time, with and without managed
// fields.
//
// The memory is that of 100,000 Services which differ as Services do. Per object it shows the bytes
// that malloc has handed out and the resident bytes of the process. "own" objects have managed
// fields that no other object has. The memory of records includes their place in the index,
// inserted in random order.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "codec/decode.h"
#include "codec/read.h"
#include "driver.h"
#include "merge/managed_fields.h"
#include "registry/kind_rows.h"
#include "registry/registry.h"
#include "state/object.h"
#include "state/snapshot.h"
#include "state/testing/objects.h"

namespace berth {
namespace {

using codec::Value;

enum class Managed : uint8_t { kNone, kShared, kOwn };

constexpr int64_t kObjects = 100'000;

const registry::Kinds& Kinds() {
  static const registry::Kinds kinds;
  return kinds;
}
const registry::Row& Row() { return *Kinds().Find("", "v1", "services")->row; }

std::string KeyOf(int64_t number) {
  return fmt::format("/registry/services/specs/shop/cart-{:06}", number);
}

/// Returns a Service as a client sends it, with the fields that the server fills in.
Value Service(int64_t number, Managed managed) {
  const std::string text = fmt::format(
      R"({{"metadata":{{"name":"cart-{0:06}","namespace":"shop","labels":{{
      "app.kubernetes.io/name":"cart-{0:06}","tier":"front"}}}},"spec":{{"ports":[
      {{"name":"http","protocol":"TCP","port":80,"targetPort":8080}},
      {{"name":"https","protocol":"TCP","port":443,"targetPort":"https"}}],
      "selector":{{"app":"cart-{0:06}"}},"type":"ClusterIP","sessionAffinity":"None",
      "internalTrafficPolicy":"Cluster"}}}})",
      number);
  auto decoded = codec::DecodeJson(text, *Row().kind->message);
  if (!decoded) std::abort();
  Value& object = decoded->object;
  if (managed != Managed::kNone) {
    const std::string manager =
        managed == Managed::kOwn ? fmt::format("kubectl-{:06}", number) : "kubectl-create";
    const base::WallTime now{std::chrono::seconds{1'800'000'000 + number / 100}};
    merge::TrackUpdate({.kind = *Row().kind, .manager = manager, .now = now}, codec::Object(),
                       object);
  }
  const std::string address = fmt::format("10.96.{}.{}", number / 250, 1 + number % 250);
  codec::SetAt(object, {"metadata", "uid"}, fmt::format("c0ffee00-0000-4000-8000-{:012}", number));
  codec::SetAt(object, {"metadata", "creationTimestamp"}, "2026-11-15T17:17:39Z");
  codec::SetAt(object, {"spec", "clusterIP"}, address);
  codec::SetAt(object, {"spec", "clusterIPs"}, codec::Array{address});
  codec::SetAt(object, {"spec", "ipFamilies"}, codec::Array{"IPv4"});
  codec::SetAt(object, {"spec", "ipFamilyPolicy"}, "SingleStack");
  return std::move(decoded->object);
}

std::string RecordName(int64_t number) {
  return fmt::format("10.{}.{}.{}", number / 65'536, number / 256 % 256, number % 256);
}

state::ObjectPtr Make(const state::Resources& resources, const std::string& key,
                      const state::WireText& wire) {
  return state::Object::Make(*resources.Find(key), 123'456, wire);
}

size_t Allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

void Memory(benchmark::State& state, Managed managed) {
  const state::Resources resources = Kinds().MakeResources();
  double json = 0;
  double allocated = 0;
  double resident = 0;
  for (auto _ : state) {
    std::vector<state::ObjectPtr> objects(kObjects);  // Not counted: the snapshot has an index.
    malloc_trim(0);
    const size_t allocated_before = Allocated();
    const size_t resident_before = bench::ResidentBytes();
    for (int64_t i = 0; i < kObjects; ++i) {
      const state::WireText wire = registry::ToWireText(Row(), Service(i, managed));
      json += static_cast<double>(wire.text.size());
      objects[static_cast<size_t>(i)] = Make(resources, KeyOf(i), wire);
    }
    allocated += static_cast<double>(Allocated() - allocated_before);
    resident += static_cast<double>(bench::ResidentBytes() - resident_before);
  }
  const double count = static_cast<double>(kObjects) * static_cast<double>(state.iterations());
  state.counters["json"] = json / count;
  state.counters["allocated"] = allocated / count;
  state.counters["resident"] = resident / count;
}
BENCHMARK_CAPTURE(Memory, without, Managed::kNone)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Memory, shared, Managed::kShared)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Memory, own, Managed::kOwn)->Iterations(1)->Unit(benchmark::kMillisecond);

void MakeObject(benchmark::State& state, Managed managed) {
  const state::Resources resources = Kinds().MakeResources();
  const std::string key = KeyOf(7);
  const state::WireText wire = registry::ToWireText(Row(), Service(7, managed));
  const state::ObjectPtr another = Make(resources, key, wire);
  for (auto _ : state) benchmark::DoNotOptimize(Make(resources, key, wire));
}
BENCHMARK_CAPTURE(MakeObject, without, Managed::kNone);
BENCHMARK_CAPTURE(MakeObject, shared, Managed::kShared);

/// Makes and destroys the only object with such managed fields.
void MakeLonelyObject(benchmark::State& state) {
  const state::Resources resources = Kinds().MakeResources();
  const std::string key = KeyOf(7);
  const state::WireText wire = registry::ToWireText(Row(), Service(7, Managed::kOwn));
  for (auto _ : state) benchmark::DoNotOptimize(Make(resources, key, wire));
}
BENCHMARK(MakeLonelyObject);

void AppendListItem(benchmark::State& state) {
  const state::Resources resources = Kinds().MakeResources();
  const state::ObjectPtr object =
      Make(resources, KeyOf(7), registry::ToWireText(Row(), Service(7, Managed::kShared)));
  std::string out;
  for (auto _ : state) {
    out.clear();
    object->AppendListItem(out);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK(AppendListItem);

void AppendJson(benchmark::State& state, Managed managed) {
  const state::Resources resources = Kinds().MakeResources();
  const state::ObjectPtr object =
      Make(resources, KeyOf(7), registry::ToWireText(Row(), Service(7, managed)));
  std::string out;
  for (auto _ : state) {
    out.clear();
    object->AppendJson(out);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK_CAPTURE(AppendJson, without, Managed::kNone);
BENCHMARK_CAPTURE(AppendJson, shared, Managed::kShared);

void Decode(benchmark::State& state, Managed managed) {
  const state::Resources resources = Kinds().MakeResources();
  const state::ObjectPtr object =
      Make(resources, KeyOf(7), registry::ToWireText(Row(), Service(7, managed)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(registry::Registry::Decode(Row(), *object));
  }
}
BENCHMARK_CAPTURE(Decode, without, Managed::kNone);
BENCHMARK_CAPTURE(Decode, shared, Managed::kShared);

/// Decodes as selectors do.
void DecodeWithoutManagedFields(benchmark::State& state) {
  const state::Resources resources = Kinds().MakeResources();
  const state::ObjectPtr object =
      Make(resources, KeyOf(7), registry::ToWireText(Row(), Service(7, Managed::kShared)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(registry::DecodeWithoutManagedFields(Row(), *object));
  }
}
BENCHMARK(DecodeWithoutManagedFields);

/// Returns the record of an address, with its own parts marked or not.
state::WireText RecordWire(int64_t number, bool marked) {
  const std::string name = RecordName(number);
  const std::string uid = fmt::format("c0ffee00-0000-4000-8000-{:012}", number);
  const std::string owner = fmt::format("cart-{:06}", number);
  state::WireText wire =
      state::testing::RecordWire({.name = name, .uid = uid, .name_space = "shop", .owner = owner});
  wire.hidden = "dynamic";
  if (marked) state::testing::MarkRecord(wire);
  return wire;
}

state::ObjectPtr MakeRecord(const state::Resources& resources, int64_t number, bool marked) {
  return Make(resources, "/registry/namespaces/" + RecordName(number), RecordWire(number, marked));
}

void RecordMemory(benchmark::State& state, bool marked) {
  const state::Resources resources = state::testing::MakeResources();
  base::SeededRandom random(1);
  std::vector<int64_t> numbers(kObjects);
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  for (size_t i = numbers.size() - 1; i > 0; --i) {
    std::swap(numbers[i], numbers[base::Uniform(random, i + 1)]);
  }
  double allocated = 0;
  for (auto _ : state) {
    const size_t before = Allocated();
    const state::Snapshot nothing;
    state::SnapshotBuilder builder(nothing);
    for (const int64_t number : numbers) builder.Put(MakeRecord(resources, number, marked));
    allocated += static_cast<double>(Allocated() - before);
  }
  state.counters["allocated"] =
      allocated / static_cast<double>(kObjects) / static_cast<double>(state.iterations());
}
BENCHMARK_CAPTURE(RecordMemory, plain, false)->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(RecordMemory, marked, true)->Iterations(1)->Unit(benchmark::kMillisecond);

/// Includes the marking.
void MakeRecordObject(benchmark::State& state, bool marked) {
  const state::Resources resources = state::testing::MakeResources();
  state::WireText wire = RecordWire(7, marked);
  const state::ObjectPtr another = MakeRecord(resources, 7, marked);
  const std::string key = another->Key();
  for (auto _ : state) {
    if (marked) state::testing::MarkRecord(wire);
    benchmark::DoNotOptimize(Make(resources, key, wire));
  }
}
BENCHMARK_CAPTURE(MakeRecordObject, plain, false);
BENCHMARK_CAPTURE(MakeRecordObject, marked, true);

void AppendRecordJson(benchmark::State& state, bool marked) {
  const state::Resources resources = state::testing::MakeResources();
  const state::ObjectPtr object = MakeRecord(resources, 7, marked);
  std::string out;
  for (auto _ : state) {
    out.clear();
    object->AppendJson(out);
    benchmark::DoNotOptimize(out);
  }
}
BENCHMARK_CAPTURE(AppendRecordJson, plain, false);
BENCHMARK_CAPTURE(AppendRecordJson, marked, true);

/// Returns the text as callers that decode it get it.
void RecordText(benchmark::State& state, bool marked) {
  const state::Resources resources = state::testing::MakeResources();
  const state::ObjectPtr object = MakeRecord(resources, 7, marked);
  for (auto _ : state) {
    std::string room;
    benchmark::DoNotOptimize(object->TextWithoutManagedFields(room));
  }
}
BENCHMARK_CAPTURE(RecordText, plain, false);
BENCHMARK_CAPTURE(RecordText, marked, true);

/// Finds one of many records, which are not all in the cache.
void Find(benchmark::State& state) {
  const state::Resources resources = state::testing::MakeResources();
  const state::Snapshot nothing;
  state::SnapshotBuilder builder(nothing);
  for (int64_t i = 0; i < kObjects; ++i) builder.Put(MakeRecord(resources, i, true));
  const state::SnapshotPtr snapshot = builder.Publish(1);
  base::SeededRandom random(1);
  std::vector<std::string> keys(4096);
  for (std::string& key : keys) {
    key = "/registry/namespaces/" +
          RecordName(static_cast<int64_t>(base::Uniform(random, static_cast<uint64_t>(kObjects))));
  }
  size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(snapshot->Find(keys[next++ % keys.size()]));
  }
}
BENCHMARK(Find);

/// Removes one of many records and adds it again. Publishes several changes at a time, as writes
/// do.
void Change(benchmark::State& state) {
  constexpr int kChangesPerPublish = 10;
  std::thread([] {}).join();  // From now on, reference counts are atomic as in a threaded process.
  const state::Resources resources = state::testing::MakeResources();
  base::SeededRandom random(1);
  const auto count = static_cast<uint64_t>(state.range(0));
  std::vector<state::ObjectPtr> records(count);
  for (uint64_t i = 0; i < count; ++i) {
    records[i] = MakeRecord(resources, static_cast<int64_t>(i), true);
    std::swap(records[i], records[base::Uniform(random, i + 1)]);
  }
  const state::Snapshot nothing;
  state::SnapshotBuilder builder(nothing);
  for (const state::ObjectPtr& record : records) builder.Put(record);
  state::SnapshotPtr snapshot = builder.Publish(1);
  int changes = 0;
  for (auto _ : state) {
    const state::ObjectPtr& record = records[base::Uniform(random, count)];
    builder.Erase(record->Key());
    builder.Put(record);
    if (++changes % kChangesPerPublish == 0) snapshot = builder.Publish(1);
  }
}
BENCHMARK(Change)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

}  // namespace
}  // namespace berth

BENCHMARK_MAIN();
