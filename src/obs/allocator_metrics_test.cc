#include "obs/allocator_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::obs {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Scope = AllocationScope;

constexpr const char* kCidr = "10.96.0.0/16";

class AllocatorMetricsTest : public ::testing::Test {
 protected:
  AllocatorMetricsTest() { allocator_.AddTo(metrics_); }

  /// Returns the line of a metric. `name` is without the prefix that all of them have.
  std::string Line(const std::string& kind, const std::string& name, const std::string& value) {
    return "\nkube_apiserver_" + kind + "_allocator_" + name + " " + value + "\n";
  }

  AllocatorFill fill_{.cidrs = {{.cidr = kCidr, .allocated = 2, .available = 65'532}},
                      .allocated_ports = 1,
                      .available_ports = 2767};
  AllocatorMetrics allocator_{[this] { return fill_; }};
  Metrics metrics_;
};

TEST_F(AllocatorMetricsTest, EverySeriesIsThereFromTheFirstScrapeOn) {
  const std::string text = metrics_.Text();
  for (const char* scope : {"static", "dynamic"}) {
    const std::string labels = std::string("{cidr=\"10.96.0.0/16\",scope=\"") + scope + "\"}";
    EXPECT_THAT(text, HasSubstr(Line("clusterip", "allocation_total" + labels, "0")));
    EXPECT_THAT(text, HasSubstr(Line("clusterip", "allocation_errors_total" + labels, "0")));
    const std::string of_ports = std::string("{scope=\"") + scope + "\"}";
    EXPECT_THAT(text, HasSubstr(Line("nodeport", "allocation_total" + of_ports, "0")));
    EXPECT_THAT(text, HasSubstr(Line("nodeport", "allocation_errors_total" + of_ports, "0")));
  }
  const std::string cidr = "{cidr=\"10.96.0.0/16\"}";
  EXPECT_THAT(text, HasSubstr(Line("clusterip", "allocation_duration_seconds_count" + cidr, "0")));
  EXPECT_THAT(text, HasSubstr(Line("clusterip", "allocated_ips" + cidr, "2")));
  EXPECT_THAT(text, HasSubstr(Line("clusterip", "available_ips" + cidr, "65532")));
  EXPECT_THAT(text, HasSubstr(Line("nodeport", "allocated_ports", "1")));
  EXPECT_THAT(text, HasSubstr(Line("nodeport", "available_ports", "2767")));
}

TEST_F(AllocatorMetricsTest, AllocationsAndErrorsAreCountedByRangeAndScope) {
  fill_.cidrs.push_back({.cidr = "fd00::/64", .allocated = 0, .available = 0x1p64});
  allocator_.CountAllocation(kCidr, Scope::kDynamic);
  allocator_.CountAllocation(kCidr, Scope::kDynamic);
  allocator_.CountAllocation("fd00::/64", Scope::kStatic);
  allocator_.CountError(kCidr, Scope::kStatic);
  allocator_.CountPortAllocation(Scope::kStatic);
  allocator_.CountPortError(Scope::kDynamic);
  const std::string text = metrics_.Text();
  const auto address = [](const char* name, const char* cidr, const char* scope) {
    return std::string(name) + "{cidr=\"" + cidr + "\",scope=\"" + scope + "\"}";
  };
  EXPECT_THAT(text,
              HasSubstr(Line("clusterip", address("allocation_total", kCidr, "dynamic"), "2")));
  EXPECT_THAT(text,
              HasSubstr(Line("clusterip", address("allocation_total", kCidr, "static"), "0")));
  EXPECT_THAT(
      text, HasSubstr(Line("clusterip", address("allocation_total", "fd00::/64", "static"), "1")));
  EXPECT_THAT(
      text, HasSubstr(Line("clusterip", address("allocation_errors_total", kCidr, "static"), "1")));
  EXPECT_THAT(text, HasSubstr(Line("nodeport", "allocation_total{scope=\"static\"}", "1")));
  EXPECT_THAT(text, HasSubstr(Line("nodeport", "allocation_errors_total{scope=\"dynamic\"}", "1")));
  EXPECT_THAT(text, HasSubstr("available_ips{cidr=\"fd00::/64\"} 1.844674407370955e+19\n"));
}

TEST_F(AllocatorMetricsTest, DurationsHaveUpstreamsBuckets) {
  allocator_.ObserveDuration(kCidr, std::chrono::milliseconds(7));
  const std::string text = metrics_.Text();
  const std::string bucket =
      "kube_apiserver_clusterip_allocator_allocation_duration_seconds_bucket{cidr=\"10.96.0.0/16\","
      "le=\"";
  EXPECT_THAT(text, HasSubstr(bucket + "0.005\"} 0\n"));
  for (const char* bound :
       {"0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"}) {
    EXPECT_THAT(text, HasSubstr(bucket + bound + "\"} 1\n"));
  }
}

TEST_F(AllocatorMetricsTest, ARangeThatIsGoneLeavesNothingBehind) {
  allocator_.CountAllocation(kCidr, Scope::kStatic);
  fill_.cidrs = {{.cidr = "10.97.0.0/24"}};
  EXPECT_THAT(metrics_.Text(), Not(HasSubstr(kCidr)));
  fill_.cidrs.push_back({.cidr = kCidr});
  EXPECT_THAT(metrics_.Text(),
              HasSubstr(Line("clusterip",
                             "allocation_total{cidr=\"10.96.0.0/16\",scope=\"static\"}", "0")));
}

}  // namespace
}  // namespace berth::obs
