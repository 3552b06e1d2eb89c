#include "obs/metrics.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cassert>
#include <sstream>
#include <utility>

namespace berth::obs {
namespace {

prometheus::MetricType TypeOf(MetricType type) {
  switch (type) {
    case MetricType::kCounter:
      return prometheus::MetricType::Counter;
    case MetricType::kGauge:
      return prometheus::MetricType::Gauge;
    case MetricType::kHistogram:
      return prometheus::MetricType::Histogram;
  }
  return prometheus::MetricType::Untyped;
}

/// Converts a reading. In the library's form each bucket also counts the buckets below
/// it, and the total is separate.
prometheus::ClientMetric::Histogram HistogramOf(const Histogram::Reading& reading) {
  prometheus::ClientMetric::Histogram histogram;
  for (size_t i = 0; i < reading.counts.size(); ++i) {
    histogram.sample_count += reading.counts[i];
    if (i == reading.bounds.size()) break;
    histogram.bucket.push_back(
        {.cumulative_count = histogram.sample_count, .upper_bound = reading.bounds[i]});
  }
  histogram.sample_sum = reading.sum;
  return histogram;
}

prometheus::ClientMetric SeriesOf(const MetricInfo& info, const Samples::Sample& sample) {
  prometheus::ClientMetric series;
  for (size_t i = 0; i < info.labels.size(); ++i) {
    series.label.push_back({.name = info.labels[i], .value = sample.labels[i]});
  }
  switch (info.type) {
    case MetricType::kCounter:
      series.counter.value = sample.value;
      break;
    case MetricType::kGauge:
      series.gauge.value = sample.value;
      break;
    case MetricType::kHistogram:
      series.histogram = HistogramOf(sample.histogram);
      break;
  }
  return series;
}

}  // namespace

void Samples::Add(double value, std::vector<std::string> labels) {
  samples_.push_back({.labels = std::move(labels), .value = value});
}

void Samples::Add(const Histogram& histogram, std::vector<std::string> labels) {
  samples_.push_back({.labels = std::move(labels), .histogram = histogram.Read()});
}

void Metrics::Add(MetricInfo info, Collect collect) {
  const auto at =
      std::lower_bound(metrics_.begin(), metrics_.end(), info.name,
                       [](const Metric& a, const std::string& name) { return a.info.name < name; });
  assert(at == metrics_.end() || at->info.name != info.name);
  metrics_.insert(at, {.info = std::move(info), .collect = std::move(collect)});
}

void Metrics::Add(MetricInfo info, std::function<double()> value) {
  assert(info.labels.empty());
  Add(std::move(info), [value = std::move(value)](Samples& out) { out.Add(value()); });
}

std::string Metrics::Text() const {
  std::vector<prometheus::MetricFamily> families;
  families.reserve(metrics_.size());
  for (const Metric& metric : metrics_) {
    Samples samples;
    metric.collect(samples);
    prometheus::MetricFamily& family = families.emplace_back();
    family.name = metric.info.name;
    family.help = metric.info.help;
    family.type = TypeOf(metric.info.type);
    for (const Samples::Sample& sample : samples.All()) {
      assert(sample.labels.size() == metric.info.labels.size());
      family.metric.push_back(SeriesOf(metric.info, sample));
    }
  }
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return std::move(text).str();
}

}  // namespace berth::obs
