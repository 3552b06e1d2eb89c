// Measures what managed fields cost a write, compared with decoding its body.
#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/json.h"
#include "codec/read.h"
#include "merge/apply.h"
#include "merge/field_set.h"
#include "merge/managed_fields.h"

namespace berth {
namespace {

using codec::Value;

constexpr base::WallTime kNow{std::chrono::seconds{1800000000}};

// A typical Service, with defaults.
constexpr std::string_view kService = R"({"apiVersion":"v1","kind":"Service","metadata":{
  "name":"web","namespace":"default","labels":{"app.kubernetes.io/name":"web","tier":"front"},
  "annotations":{"example.com/owner":"team-a"}},
  "spec":{"ports":[{"name":"http","protocol":"TCP","port":80,"targetPort":8080},
                   {"name":"https","protocol":"TCP","port":443,"targetPort":"https"}],
  "selector":{"app":"web"},"type":"ClusterIP","sessionAffinity":"None",
  "internalTrafficPolicy":"Cluster"}})";

Value Service(std::string_view text = kService) {
  auto decoded = codec::DecodeJson(text, *api::kServiceKind.message);
  if (!decoded) std::abort();
  return std::move(decoded->object);
}

merge::FieldWrite WriteBy(std::string_view manager) {
  return {.kind = api::kServiceKind, .manager = manager, .now = kNow};
}

Value Stored() {
  Value service = Service();
  merge::TrackUpdate(WriteBy("kubectl-create"), codec::Object(), service);
  codec::SetAt(service, {"metadata", "uid"}, "c0ffee00-0000-4000-8000-000000000000");
  codec::SetAt(service, {"spec", "clusterIP"}, "10.96.0.7");
  return service;
}

void DecodeService(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Service());
}
BENCHMARK(DecodeService);

void CopyService(benchmark::State& state) {
  const Value service = Service();
  for (auto _ : state) {
    Value created = service;
    benchmark::DoNotOptimize(created);
  }
}
BENCHMARK(CopyService);

// Includes a copy of the object, as do all that follow.
void TrackCreate(benchmark::State& state) {
  const Value service = Service();
  const Value none = codec::Object();
  for (auto _ : state) {
    Value created = service;
    merge::TrackUpdate(WriteBy("kubectl-create"), none, created);
    benchmark::DoNotOptimize(created);
  }
}
BENCHMARK(TrackCreate);

void TrackLabel(benchmark::State& state) {
  const Value stored = Stored();
  Value labelled = stored;
  codec::SetAt(labelled, {"metadata", "labels", "tier"}, "back");
  for (auto _ : state) {
    Value updated = labelled;
    merge::TrackUpdate(WriteBy("kubectl-label"), stored, updated);
    benchmark::DoNotOptimize(updated);
  }
}
BENCHMARK(TrackLabel);

void TrackNoChange(benchmark::State& state) {
  const Value stored = Stored();
  for (auto _ : state) {
    Value updated = stored;
    merge::TrackUpdate(WriteBy("kubectl-replace"), stored, updated);
    benchmark::DoNotOptimize(updated);
  }
}
BENCHMARK(TrackNoChange);

void ApplyCreate(benchmark::State& state) {
  const Value config = *codec::ParseJson(kService);
  const Value none = codec::Object();
  for (auto _ : state) {
    auto applied = merge::Apply(WriteBy("kubectl"), {}, none, config);
    if (!applied) std::abort();
    benchmark::DoNotOptimize(applied);
  }
}
BENCHMARK(ApplyCreate);

void ApplyAgain(benchmark::State& state) {
  const Value config = *codec::ParseJson(kService);
  const Value live = *merge::Apply(WriteBy("kubectl"), {}, codec::Object(), config);
  for (auto _ : state) benchmark::DoNotOptimize(merge::Apply(WriteBy("kubectl"), {}, live, config));
}
BENCHMARK(ApplyAgain);

std::string FieldsText() {
  const Value stored = Stored();
  return std::string(
      codec::StringAt(codec::ArrayAt(stored, "metadata", "managedFields").front(), "fieldsV1"));
}

void ReadFields(benchmark::State& state) {
  const std::string text = FieldsText();
  for (auto _ : state) benchmark::DoNotOptimize(merge::ReadFieldsV1(text));
  state.counters["bytes"] = static_cast<double>(text.size());
}
BENCHMARK(ReadFields);

void WriteFields(benchmark::State& state) {
  const merge::FieldSet set = *merge::ReadFieldsV1(FieldsText());
  for (auto _ : state) benchmark::DoNotOptimize(merge::WriteFieldsV1(set));
}
BENCHMARK(WriteFields);

}  // namespace
}  // namespace berth

BENCHMARK_MAIN();
