#include "obs/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "obs/process_metrics.h"

namespace berth::obs {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::array<double, 3> kBounds = {0.005, 0.1, 2.5};

TEST(Metrics, ACollectorIsAskedAtEachScrape) {
  Metrics metrics;
  double value = 3;
  metrics.Add({.name = "b_now", .help = "What is there now.", .type = MetricType::kGauge},
              [&value] { return value; });
  EXPECT_EQ(metrics.Text(),
            "# HELP b_now What is there now.\n"
            "# TYPE b_now gauge\n"
            "b_now 3\n");
  value = 0.5;
  EXPECT_THAT(metrics.Text(), HasSubstr("\nb_now 0.5\n"));
}

TEST(Metrics, MetricsComeByNameAndOneWithoutValuesIsStillDescribed) {
  Metrics metrics;
  metrics.Add({.name = "b_total", .help = "Later."}, [](Samples&) {});
  metrics.Add({.name = "a_total", .help = "Sooner.", .labels = {"kind"}}, [](Samples& out) {
    out.Add(1, {"x"});
    out.Add(123456789012, {"y"});
  });
  EXPECT_EQ(metrics.Text(),
            "# HELP a_total Sooner.\n"
            "# TYPE a_total counter\n"
            "a_total{kind=\"x\"} 1\n"
            "a_total{kind=\"y\"} 123456789012\n"
            "# HELP b_total Later.\n"
            "# TYPE b_total counter\n");
}

TEST(Metrics, WhatIsInALabelCannotBreakTheText) {
  Metrics metrics;
  metrics.Add({.name = "a_total", .help = "A.", .labels = {"v"}},
              [](Samples& out) { out.Add(1, {"a\"b\\c\nd"}); });
  EXPECT_THAT(metrics.Text(), HasSubstr("a_total{v=\"a\\\"b\\\\c\\nd\"} 1\n"));
}

TEST(Metrics, AHistogramCountsWhatIsBelowEachBound) {
  Histogram histogram(kBounds);
  for (const int ms : {1, 5, 6, 100, 3000}) histogram.Observe(milliseconds(ms));
  Metrics metrics;
  metrics.Add({.name = "a_seconds", .help = "A.", .type = MetricType::kHistogram, .labels = {"v"}},
              [&histogram](Samples& out) { out.Add(histogram, {"x"}); });
  const std::string text = metrics.Text();
  EXPECT_THAT(text, HasSubstr("# TYPE a_seconds histogram\n"));
  EXPECT_THAT(text, HasSubstr("a_seconds_bucket{v=\"x\",le=\"0.005\"} 2\n")) << "a bound is inside";
  EXPECT_THAT(text, HasSubstr("a_seconds_bucket{v=\"x\",le=\"0.1\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("a_seconds_bucket{v=\"x\",le=\"2.5\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("a_seconds_bucket{v=\"x\",le=\"+Inf\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("a_seconds_count{v=\"x\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("a_seconds_sum{v=\"x\"} 3.112\n"));
}

TEST(Histogram, CountsThingsToo) {
  constexpr std::array<double, 2> kSizes = {1, 4};
  Histogram histogram(kSizes, Histogram::Unit::kThings);
  for (const size_t size : {1U, 2U, 4U, 5U}) histogram.Observe(size);
  const Histogram::Reading reading = histogram.Read();
  EXPECT_THAT(reading.counts, ::testing::ElementsAre(1, 2, 1));
  EXPECT_EQ(reading.sum, 12);
}

TEST(Histogram, NothingIsLostWhenManyObserveAtOnce) {
  Histogram histogram(kBounds);
  Counter counter;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) {
        histogram.Observe(milliseconds(50));
        counter.Add();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(histogram.Read().counts[1], 40'000U);
  EXPECT_NEAR(histogram.Read().sum, 2000, 1e-6);
  EXPECT_EQ(counter.Value(), 40'000U);
}

double ValueOf(const Metrics& metrics, const std::string& name) {
  const std::string text = metrics.Text();
  const size_t at = text.find("\n" + name + " ");
  if (at == std::string::npos) return -1;
  return std::stod(text.substr(at + name.size() + 2));
}

TEST(ProcessMetrics, ShowThisProcess) {
  Metrics metrics;
  AddProcessMetrics(metrics);
  const double files = ValueOf(metrics, "process_open_fds");
  EXPECT_GT(files, 2);
  const int more = ::dup(0);
  EXPECT_EQ(ValueOf(metrics, "process_open_fds"), files + 1);
  ::close(more);
  EXPECT_GE(ValueOf(metrics, "process_max_fds"), files);
  EXPECT_GT(ValueOf(metrics, "process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(ValueOf(metrics, "process_virtual_memory_bytes"),
            ValueOf(metrics, "process_resident_memory_bytes"));
  EXPECT_GE(ValueOf(metrics, "process_cpu_seconds_total"), 0);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const double started = ValueOf(metrics, "process_start_time_seconds");
  EXPECT_NEAR(started, std::chrono::duration<double>(now).count(), 600);
}

TEST(ProcessMetrics, TimeIsCountedOn) {
  Metrics metrics;
  AddProcessMetrics(metrics);
  const double before = ValueOf(metrics, "process_cpu_seconds_total");
  double now = before;
  while (now == before) now = ValueOf(metrics, "process_cpu_seconds_total");
  EXPECT_GT(now, before);
  EXPECT_LT(now, before + 1);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace berth::obs
