// Bitmaps as they are stored: a change of 64 values and the difference between two of them, at the
// sizes of a default range of ports, a /16 and a /12.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "alloc/bitmap_change.h"
#include "base/random.h"
#include "ip/cidr.h"

namespace berth {
namespace {

using alloc::BitmapChange;
using alloc::BitmapForm;

constexpr size_t kValues = 64;

BitmapForm FormOf(int64_t bits) {
  return BitmapForm::Of(ip::Cidr(ip::Addr(ip::Family::kV4, 10U << 24), static_cast<int>(bits)));
}

/// Half of the range, and 64 values that are free in it.
struct Half {
  explicit Half(const BitmapForm& form) {
    data.assign(static_cast<size_t>(form.bits() / 8 + 1), '\x55');
    base::SeededRandom random(1);
    while (change.takes.size() < kValues) {
      const uint64_t bit = base::Uniform(random, form.bits() / 2) * 2 + 1;
      if (alloc::CheckChange(form, {.takes = {form.ValueOf(bit)}}, data)) continue;
      change.takes.push_back(form.ValueOf(bit));
    }
  }
  std::string data;
  BitmapChange change;
};

void Take64(benchmark::State& state) {
  const BitmapForm form = FormOf(state.range(0));
  Half half(form);
  const BitmapChange back{.takes = {}, .gives = half.change.takes};
  for (auto _ : state) {
    if (alloc::MakeChange(form, half.change, half.data)) std::abort();
    if (alloc::MakeChange(form, back, half.data)) std::abort();
  }
}

void Compare64(benchmark::State& state) {
  const BitmapForm form = FormOf(state.range(0));
  const Half half(form);
  std::string after = half.data;
  if (alloc::MakeChange(form, half.change, after)) std::abort();
  for (auto _ : state) {
    benchmark::DoNotOptimize(alloc::CompareBitmaps(form, half.data, after));
  }
}

BENCHMARK(Take64)->Arg(24)->Arg(16)->Arg(12);
BENCHMARK(Compare64)->Arg(24)->Arg(16)->Arg(12);

}  // namespace
}  // namespace berth

BENCHMARK_MAIN();
