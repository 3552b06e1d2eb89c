#include "obs/instruments.h"

#include <algorithm>
#include <cmath>

namespace berth::obs {
namespace {

std::vector<int64_t> InUnits(std::span<const double> bounds, double units) {
  std::vector<int64_t> limits;
  for (const double bound : bounds) limits.push_back(std::llround(bound * units));
  return limits;
}

}  // namespace

Histogram::Histogram(std::span<const double> bounds, Unit unit)
    : bounds_(bounds),
      units_(unit == Unit::kSeconds ? 1e9 : 1),
      limits_(InUnits(bounds, units_)),
      counts_(bounds.size() + 1) {}

void Histogram::Note(int64_t value) {
  const auto bucket = std::lower_bound(limits_.begin(), limits_.end(), value) - limits_.begin();
  counts_[static_cast<size_t>(bucket)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

Histogram::Reading Histogram::Read() const {
  Reading reading{.bounds = bounds_};
  for (const auto& count : counts_) reading.counts.push_back(count.load(std::memory_order_relaxed));
  reading.sum = static_cast<double>(sum_.load(std::memory_order_relaxed)) / units_;
  return reading;
}

}  // namespace berth::obs
