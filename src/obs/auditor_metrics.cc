#include "obs/auditor_metrics.h"

#include <utility>

namespace berth::obs {

AuditorMetrics::AuditorMetrics(std::vector<std::string> kinds, std::vector<std::string> repairs)
    : kinds_(std::move(kinds)), repair_kinds_(std::move(repairs)), repairs_(repair_kinds_.size()) {}

void AuditorMetrics::Set(Pass pass) {
  passes_.Add();
  base::MutexLock lock(mutex_);
  if (pass.clean) last_clean_ = pass.revision;
  last_ = std::move(pass);
}

AuditorMetrics::Pass AuditorMetrics::Last() const {
  base::MutexLock lock(mutex_);
  return last_;
}

void AuditorMetrics::AddGauge(Metrics& metrics, const std::string& name, const std::string& help,
                              double (*read)(const AuditorMetrics& from, const Pass& last)) {
  metrics.Add({.name = name, .help = help, .type = MetricType::kGauge},
              [this, read] { return read(*this, Last()); });
}

void AuditorMetrics::AddTo(Metrics& metrics) {
  metrics.Add({.name = "berth_audit_passes_total",
               .help = "Number of passes over all addresses and ports that were completed",
               .type = MetricType::kCounter},
              [this] { return static_cast<double>(passes_.Value()); });
  AddGauge(metrics, "berth_audit_duration_seconds",
           "Time from the begin to the end of the last pass, with its pauses",
           [](const AuditorMetrics&, const Pass& last) { return last.seconds; });
  AddGauge(metrics, "berth_audit_cpu_seconds", "Processor time of the last pass",
           [](const AuditorMetrics&, const Pass& last) { return last.cpu_seconds; });
  AddGauge(metrics, "berth_audit_last_pass_timestamp_seconds",
           "Time when the last pass ended, in seconds since 1970",
           [](const AuditorMetrics&, const Pass& last) { return last.finished_at; });
  AddGauge(
      metrics, "berth_audit_last_revision", "Revision of the store that the last pass checked",
      [](const AuditorMetrics&, const Pass& last) { return static_cast<double>(last.revision); });
  AddGauge(metrics, "berth_audit_last_clean_revision",
           "Newest revision of the store at which a pass has found nothing",
           [](const AuditorMetrics& from, const Pass&) {
             base::MutexLock lock(from.mutex_);
             return static_cast<double>(from.last_clean_);
           });
  metrics.Add({.name = "berth_audit_checked",
               .help = "Number of things that the last pass has checked, by what they are",
               .type = MetricType::kGauge,
               .labels = {"what"}},
              [this](Samples& out) {
                for (const auto& [what, count] : Last().checked) {
                  out.Add(static_cast<double>(count), {what});
                }
              });
  metrics.Add({.name = "berth_audit_findings",
               .help = "Number of findings of the last pass, by kind",
               .type = MetricType::kGauge,
               .labels = {"kind"}},
              [this](Samples& out) {
                const Pass last = Last();
                for (size_t i = 0; i < kinds_.size(); ++i) {
                  const uint64_t count = i < last.findings.size() ? last.findings[i] : 0;
                  out.Add(static_cast<double>(count), {kinds_[i]});
                }
              });
  metrics.Add({.name = "berth_audit_repairs_total",
               .help = "Number of records that were repaired, by kind of repair",
               .type = MetricType::kCounter,
               .labels = {"kind"}},
              [this](Samples& out) {
                for (size_t i = 0; i < repair_kinds_.size(); ++i) {
                  out.Add(static_cast<double>(repairs_[i].Value()), {repair_kinds_[i]});
                }
              });
}

}  // namespace berth::obs
