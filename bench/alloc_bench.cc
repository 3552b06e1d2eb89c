// Measures the allocation index at every fill level, compared with a naive linear-scan bitmap in
// the same run, and pools of one range and of a thousand. bench/report.py turns the printed JSON
// into the table with its bars.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "alloc/index.h"
#include "alloc/pool.h"
#include "base/random.h"

namespace berth {
namespace {

using alloc::Index;
using alloc::Layout;
using base::U128;

Layout LayoutOrDie(const base::Result<Layout>& layout) {
  if (!layout) std::abort();
  return *layout;
}
Layout Cidr(const char* text) { return LayoutOrDie(alloc::LayoutOf(*ip::ParseCidr(text))); }
Layout Ports(const char* text) { return LayoutOrDie(alloc::LayoutOf(*ip::ParsePortRange(text))); }

struct Fill {
  std::string name;
  double part;
};
const Fill kFills[] = {{"0%", 0},        {"50%", 0.5},       {"90%", 0.9},   {"99%", 0.99},
                       {"99.9%", 0.999}, {"99.99%", 0.9999}, {"one left", 1}};

uint64_t OpenValues(const Layout& layout) {
  return static_cast<uint64_t>(Index(layout).Counts()[alloc::State::kFree]);
}

uint64_t CountFor(uint64_t usable, const Fill& fill) {
  return std::min(usable - 1, static_cast<uint64_t>(static_cast<double>(usable) * fill.part));
}

/// Returns a /64 with all but the first 2^20 addresses excluded.
Layout SliceOfSlash64() {
  const ip::Cidr cidr = *ip::ParseCidr("fd00:10:96::/64");
  const U128 first = cidr.First().bits();
  return LayoutOrDie(
      alloc::LayoutOf(cidr, {.excluded = {{first + (1 << 20) + 1, cidr.Last().bits()}}}));
}

void PickRelease(benchmark::State& state, const Layout& layout, uint64_t count) {
  base::SeededRandom random(1);
  Index index(layout);
  for (uint64_t i = 0; i < count; ++i) index.TakeAny(random);
  for (auto _ : state) {
    const U128 value = *index.TakeAny(random);
    benchmark::DoNotOptimize(index.Release(value));
  }
  state.counters["bytes"] = static_cast<double>(index.MemoryBytes());
}

/// Does what Kubernetes' bitmap does: starts at random and goes bit by bit to the next free value.
class NaiveBitmap {
 public:
  explicit NaiveBitmap(uint64_t size) : size_(size), words_(size / 64 + 1) {}

  void Take(uint64_t at) { words_[at / 64] |= uint64_t{1} << at % 64; }
  void Release(uint64_t at) { words_[at / 64] &= ~(uint64_t{1} << at % 64); }

  uint64_t TakeAny(base::Random& random) {
    uint64_t at = base::Uniform(random, size_);
    while ((words_[at / 64] >> at % 64) & 1) at = at + 1 == size_ ? 0 : at + 1;
    Take(at);
    return at;
  }

 private:
  uint64_t size_;
  std::vector<uint64_t> words_;
};

void NaivePickRelease(benchmark::State& state, uint64_t size, uint64_t count) {
  base::SeededRandom random(1);
  // Fill it in shuffled order, because its own picks would take minutes near the end.
  std::vector<uint64_t> order(size);
  std::iota(order.begin(), order.end(), 0);
  for (uint64_t i = size; i > 1; --i) std::swap(order[i - 1], order[base::Uniform(random, i)]);
  NaiveBitmap bitmap(size);
  for (uint64_t i = 0; i < count; ++i) bitmap.Take(order[i]);
  for (auto _ : state) bitmap.Release(bitmap.TakeAny(random));
}

/// Returns one million distinct values, ascending: all of a /12 except the last few, or spread over
/// a /64.
std::vector<U128> SortedMillion(const Layout& layout) {
  constexpr uint64_t kCount = 1'000'000;
  const alloc::Interval span = *layout.span();
  const U128 step = span.Size() / kCount;
  std::vector<U128> values(kCount);
  for (uint64_t i = 0; i < kCount; ++i) values[i] = span.first + step * i;
  return values;
}

void BuildFromSorted(benchmark::State& state, const Layout& layout) {
  const std::vector<U128> values = SortedMillion(layout);
  for (auto _ : state) {
    const alloc::LoadedIndex loaded = Index::Load(layout, values);
    state.counters["bytes"] = static_cast<double>(loaded.index.MemoryBytes());
  }
}

/// Returns adjacent /24s. If `overlapping`, each 16 of them are also inside of a /20.
std::vector<alloc::RangeRow> ManyRanges(size_t count, bool overlapping) {
  std::vector<alloc::RangeRow> rows;
  for (size_t i = 0; i < count; ++i) {
    const std::string block =
        "10." + std::to_string(i / 256) + "." + std::to_string(i % 256) + ".0";
    rows.push_back({.name = block, .text = block + "/24", .layout = Cidr((block + "/24").c_str())});
    if (!overlapping || i % 16 != 0) continue;
    rows.push_back(
        {.name = "wide " + block, .text = block + "/20", .layout = Cidr((block + "/20").c_str())});
  }
  return rows;
}

alloc::Pool FilledPool(std::vector<alloc::RangeRow> rows, double fill, base::Random& random) {
  alloc::Pool pool;
  pool.SetRanges(std::move(rows));
  std::vector<U128> all;  // A value in several ranges appears once.
  while (const auto value = pool.TakeAny(random)) all.push_back(*value);
  const auto free = static_cast<size_t>(static_cast<double>(all.size()) * (1 - fill));
  for (size_t i = 0; i < free; ++i) pool.Put(all[i * all.size() / free], alloc::State::kFree);
  return pool;
}

void PoolPickRelease(benchmark::State& state, const std::vector<alloc::RangeRow>& rows,
                     double fill) {
  base::SeededRandom random(1);
  alloc::Pool pool = FilledPool(rows, fill, random);
  for (auto _ : state) {
    const U128 value = *pool.TakeAny(random);
    benchmark::DoNotOptimize(pool.Put(value, alloc::State::kFree));
  }
}

/// Changes the layout of one range and changes it back, which walks over all held values.
void PoolChangeRange(benchmark::State& state, size_t ranges, uint64_t held) {
  base::SeededRandom random(1);
  std::vector<alloc::RangeRow> rows = ManyRanges(ranges, false);
  alloc::Pool pool;
  pool.SetRanges(rows);
  for (uint64_t i = 0; i < held; ++i) pool.Hold(U128{10} << 24 | base::Uniform(random, 1 << 24));
  bool strict = false;
  for (auto _ : state) {
    strict = !strict;
    rows[ranges / 2].layout =
        LayoutOrDie(alloc::LayoutOf(*ip::ParseCidr(rows[ranges / 2].text), {.strict = strict}));
    pool.SetRanges(rows);
  }
}

void RegisterPools() {
  const std::vector<std::pair<std::string, std::vector<alloc::RangeRow>>> pools = {
      {"1 range of a /14", {{.name = "one", .text = "10.0.0.0/14", .layout = Cidr("10.0.0.0/14")}}},
      {"1,000 ranges", ManyRanges(1000, false)},
      {"1,000 ranges in 63 wider ones", ManyRanges(1000, true)},
  };
  for (const auto& [name, rows] : pools) {
    for (const Fill& fill : {kFills[0], kFills[1], kFills[3]}) {
      benchmark::RegisterBenchmark(("ranges/pool/" + name + "/" + fill.name).c_str(),
                                   PoolPickRelease, rows, fill.part);
    }
  }
  for (const size_t ranges : {size_t{1}, size_t{1000}}) {
    benchmark::RegisterBenchmark(
        ("ranges/change/of " + std::to_string(ranges) + ", 1,000,000 held").c_str(),
        PoolChangeRange, ranges, uint64_t{1'000'000})
        ->Unit(benchmark::kMillisecond);
  }
}

void RegisterAll() {
  RegisterPools();
  const std::vector<std::pair<std::string, Layout>> ranges = {
      {"2,768 ports", Ports("30000-32767")},
      {"65,534 addresses", Cidr("10.96.0.0/16")},
      {"1,048,574 addresses", Cidr("10.96.0.0/12")},
      {"1,048,576 left open of a /64", SliceOfSlash64()},
  };
  for (const auto& [name, layout] : ranges) {
    const uint64_t usable = OpenValues(layout);
    for (const Fill& fill : kFills) {
      const uint64_t count = CountFor(usable, fill);
      benchmark::RegisterBenchmark(("pick/" + name + "/" + fill.name).c_str(), PickRelease, layout,
                                   count);
      benchmark::RegisterBenchmark(("naive/" + name + "/" + fill.name).c_str(), NaivePickRelease,
                                   usable, count);
    }
  }
  const Layout slash64 = Cidr("fd00:10:96::/64");
  for (const auto& [name, count] :
       {std::pair{"1,000 held", 1'000}, {"100,000 held", 100'000}, {"1,000,000 held", 1'000'000}}) {
    benchmark::RegisterBenchmark((std::string("pick/a /64/") + name).c_str(), PickRelease, slash64,
                                 static_cast<uint64_t>(count));
  }
  benchmark::RegisterBenchmark("build/a /12", BuildFromSorted, Cidr("10.96.0.0/12"))
      ->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark("build/a /64", BuildFromSorted, slash64)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace berth

int main(int argc, char** argv) {
  berth::RegisterAll();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
