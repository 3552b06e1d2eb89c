// Measures stored bitmaps: a change of 64 values and the difference between two bitmaps, at the
// sizes of a default range of ports, a /16 and a /12.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "allocation/bitmaps/bitmap_change.h"
#include "base/random.h"
#include "ip/cidr.h"

namespace berth {
namespace {

using allocation::BitmapChange;
using allocation::BitmapLayout;

constexpr size_t kValues = 64;

BitmapLayout FormOf(int64_t bits) {
  return BitmapLayout::Of(ip::Cidr(ip::Addr(ip::Family::kV4, 10U << 24), static_cast<int>(bits)));
}

/// A bitmap in which half of the range is taken, and 64 values that are free in it.
struct Half {
  explicit Half(const BitmapLayout& form) {
    data.assign(static_cast<size_t>(form.bits() / 8 + 1), '\x55');
    base::SeededRandom random(1);
    while (change.takes.size() < kValues) {
      const uint64_t bit = base::Uniform(random, form.bits() / 2) * 2 + 1;
      if (allocation::CheckChange(form, {.takes = {form.ValueOf(bit)}}, data)) continue;
      change.takes.push_back(form.ValueOf(bit));
    }
  }
  std::string data;
  BitmapChange change;
};

void Take64(benchmark::State& state) {
  const BitmapLayout form = FormOf(state.range(0));
  Half half(form);
  const BitmapChange back{.takes = {}, .releases = half.change.takes};
  for (auto _ : state) {
    if (allocation::MakeChange(form, half.change, half.data)) std::abort();
    if (allocation::MakeChange(form, back, half.data)) std::abort();
  }
}

void Compare64(benchmark::State& state) {
  const BitmapLayout form = FormOf(state.range(0));
  const Half half(form);
  std::string after = half.data;
  if (allocation::MakeChange(form, half.change, after)) std::abort();
  for (auto _ : state) {
    benchmark::DoNotOptimize(allocation::CompareBitmaps(form, half.data, after));
  }
}

BENCHMARK(Take64)->Arg(24)->Arg(16)->Arg(12);
BENCHMARK(Compare64)->Arg(24)->Arg(16)->Arg(12);

}  // namespace
}  // namespace berth

BENCHMARK_MAIN();
