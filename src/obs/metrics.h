// The metrics of a server, as Prometheus reads them. A metric is a name, a type, a fixed set of
// label names, and a collector: a function that is called at each scrape and reports the current
// values. No values are kept here. So a gauge is right at the first scrape and there is one place
// that counts, and no other layer sees the library that writes the text.
//
//   metrics.Add({.name = "berth_commit_waiting", .help = "...", .type = MetricType::kGauge},
//               [&sequencer] { return static_cast<double>(sequencer.GetStats().waiting); });
//
// The values of a label must come from a fixed set or from a table with a bounded size,
// never from a client's request.
//
// Threads: one thread calls Add while the server is being wired. Then any threads may call
// Text, several at once. Collectors must be quick, must not wait, and must stay valid as
// long as Text is called.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "obs/instruments.h"

namespace berth::obs {

enum class MetricType : uint8_t { kCounter, kGauge, kHistogram };

struct MetricInfo {
  std::string name = {};
  std::string help = {};
  MetricType type = MetricType::kCounter;
  std::vector<std::string> labels = {};  // The label names.
};

/// The values of one metric at one moment.
class Samples {
 public:
  /// `labels` are the values, in the order of MetricInfo::labels.
  void Add(double value, std::vector<std::string> labels = {});
  void Add(const Histogram& histogram, std::vector<std::string> labels = {});

  struct Sample {
    std::vector<std::string> labels = {};
    double value = 0;
    Histogram::Reading histogram = {};
  };
  const std::vector<Sample>& All() const { return samples_; }

 private:
  std::vector<Sample> samples_;
};

class Metrics {
 public:
  using Collect = std::function<void(Samples&)>;

  void Add(MetricInfo info, Collect collect);
  /// Adds a metric without labels, which has one value.
  void Add(MetricInfo info, std::function<double()> value);

  /// The content type of Text.
  static constexpr const char* kContentType = "text/plain; version=0.0.4; charset=utf-8";
  /// Returns all metrics, sorted by name, in Prometheus' text format.
  std::string Text() const;

 private:
  struct Metric {
    MetricInfo info;
    Collect collect;
  };

  std::vector<Metric> metrics_;  // Sorted by name.
};

}  // namespace berth::obs
