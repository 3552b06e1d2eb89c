#include "obs/allocator_metrics.h"

#include <set>
#include <utility>

namespace berth::obs {
namespace {

constexpr std::array<double, 11> kDurationBounds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                    0.5,   1,    2.5,   5,    10};
constexpr std::array<const char*, kAllocationScopes> kScopeNames = {"static", "dynamic"};

constexpr const char* kAddresses = "kube_apiserver_clusterip_allocator_";
constexpr const char* kPorts = "kube_apiserver_nodeport_allocator_";

MetricInfo Info(const char* prefix, const char* name, MetricType type, const char* help,
                std::vector<std::string> labels = {}) {
  return {
      .name = std::string(prefix) + name, .help = help, .type = type, .labels = std::move(labels)};
}

void ReportScopes(const std::array<Counter, kAllocationScopes>& counters, const std::string* cidr,
                  Samples& out) {
  for (size_t i = 0; i < counters.size(); ++i) {
    std::vector<std::string> labels;
    if (cidr != nullptr) labels.push_back(*cidr);
    labels.emplace_back(kScopeNames[i]);
    out.Add(static_cast<double>(counters[i].Value()), std::move(labels));
  }
}

}  // namespace

AllocatorMetrics::CidrCounts::CidrCounts() : duration(kDurationBounds) {}

AllocatorMetrics::AllocatorMetrics(std::function<AllocatorFill()> fill) : fill_(std::move(fill)) {}

AllocatorMetrics::CidrCounts& AllocatorMetrics::Of(std::string_view cidr) {
  const auto found = cidrs_.find(cidr);
  return found != cidrs_.end() ? found->second
                               : cidrs_.try_emplace(std::string(cidr)).first->second;
}

void AllocatorMetrics::CountAllocation(std::string_view cidr, AllocationScope scope) {
  base::MutexLock lock(mutex_);
  Of(cidr).allocations[Index(scope)].Add();
}

void AllocatorMetrics::CountError(std::string_view cidr, AllocationScope scope) {
  base::MutexLock lock(mutex_);
  Of(cidr).errors[Index(scope)].Add();
}

void AllocatorMetrics::ObserveDuration(std::string_view cidr, std::chrono::nanoseconds took) {
  base::MutexLock lock(mutex_);
  Of(cidr).duration.Observe(took);
}

void AllocatorMetrics::ForEachCidr(const Report& report) {
  const AllocatorFill fill = fill_();
  base::MutexLock lock(mutex_);
  std::set<std::string_view> present;
  for (const AllocatorFill::Range& range : fill.cidrs) present.insert(range.cidr);
  std::erase_if(cidrs_, [&present](const auto& known) { return !present.contains(known.first); });
  for (const AllocatorFill::Range& range : fill.cidrs) report(range.cidr, Of(range.cidr));
}

void AllocatorMetrics::AddTo(Metrics& metrics) {
  AddAddresses(metrics);
  AddPorts(metrics);
}

void AllocatorMetrics::AddAddresses(Metrics& metrics) {
  metrics.Add(Info(kAddresses, "allocated_ips", MetricType::kGauge,
                   "Number of allocated IPs for Services", {"cidr"}),
              [this](Samples& out) {
                for (const auto& range : fill_().cidrs) out.Add(range.allocated, {range.cidr});
              });
  metrics.Add(Info(kAddresses, "available_ips", MetricType::kGauge,
                   "Number of available IPs for Services", {"cidr"}),
              [this](Samples& out) {
                for (const auto& range : fill_().cidrs) out.Add(range.available, {range.cidr});
              });
  metrics.Add(Info(kAddresses, "allocation_total", MetricType::kCounter,
                   "Number of Cluster IPs allocations", {"cidr", "scope"}),
              [this](Samples& out) {
                ForEachCidr([&out](const std::string& cidr, const CidrCounts& counts) {
                  ReportScopes(counts.allocations, &cidr, out);
                });
              });
  metrics.Add(Info(kAddresses, "allocation_errors_total", MetricType::kCounter,
                   "Number of errors trying to allocate Cluster IPs", {"cidr", "scope"}),
              [this](Samples& out) {
                ForEachCidr([&out](const std::string& cidr, const CidrCounts& counts) {
                  ReportScopes(counts.errors, &cidr, out);
                });
              });
  metrics.Add(Info(kAddresses, "allocation_duration_seconds", MetricType::kHistogram,
                   "Duration in seconds to allocate a Cluster IP by ServiceCIDR", {"cidr"}),
              [this](Samples& out) {
                ForEachCidr([&out](const std::string& cidr, const CidrCounts& counts) {
                  out.Add(counts.duration, {cidr});
                });
              });
}

void AllocatorMetrics::AddPorts(Metrics& metrics) {
  metrics.Add(Info(kPorts, "allocated_ports", MetricType::kGauge,
                   "Number of allocated NodePorts for Services"),
              [this] { return fill_().allocated_ports; });
  metrics.Add(Info(kPorts, "available_ports", MetricType::kGauge,
                   "Number of available NodePorts for Services"),
              [this] { return fill_().available_ports; });
  metrics.Add(Info(kPorts, "allocation_total", MetricType::kCounter,
                   "Number of NodePort allocations", {"scope"}),
              [this](Samples& out) { ReportScopes(ports_.allocations, nullptr, out); });
  metrics.Add(Info(kPorts, "allocation_errors_total", MetricType::kCounter,
                   "Number of errors trying to allocate NodePorts", {"scope"}),
              [this](Samples& out) { ReportScopes(ports_.errors, nullptr, out); });
}

}  // namespace berth::obs
