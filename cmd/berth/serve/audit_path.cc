#include "berth/serve/audit_path.h"

#include <utility>

#include "allocation/records.h"
#include "audit/finding.h"
#include "base/clock.h"
#include "codec/json.h"
#include "server/status_body.h"

namespace berth::cli {
namespace {

using controllers::Auditor;

codec::Value Number(uint64_t number) { return static_cast<int64_t>(number); }

codec::Value FindingDocument(const audit::Finding& finding) {
  codec::Object document{{"kind", audit::NameOf(finding.kind)}};
  if (finding.value) document.Set("value", allocation::RecordName(*finding.value));
  document.Set("message", finding.message);
  document.Set("advice", finding.advice);
  return document;
}

void AddReport(const audit::Report& report, codec::Object& document) {
  document.Set("revision", report.revision);
  document.Set("clean", report.IsClean());
  document.Set("checked", codec::Object{{"services", Number(report.checked.services)},
                                        {"values", Number(report.checked.values)},
                                        {"records", Number(report.checked.records)},
                                        {"bits", Number(report.checked.bits)},
                                        {"ranges", Number(report.checked.ranges)}});
  codec::Object counts;
  for (size_t i = 0; i < report.counts.size(); ++i) {
    if (report.counts[i] == 0) continue;
    counts.Set(std::string(audit::NameOf(static_cast<audit::FindingKind>(i))),
               Number(report.counts[i]));
  }
  document.Set("counts", std::move(counts));
  codec::Array findings;
  for (const audit::Finding& finding : report.findings) {
    findings.push_back(FindingDocument(finding));
  }
  document.Set("findings", std::move(findings));
}

}  // namespace

codec::Value ToDocument(const Auditor::Status& status, const std::optional<uint64_t>& asked) {
  codec::Object document{{"passes", Number(status.passes)}, {"running", status.running}};
  if (asked) document.Set("asked", Number(*asked));
  if (status.report == nullptr) return document;
  document.Set("finished", base::FormatRfc3339Millis(status.finished));
  document.Set("milliseconds", Number(static_cast<uint64_t>(status.took.count() / 1'000'000)));
  AddReport(*status.report, document);
  return document;
}

void ServeAudit(Auditor& auditor, const server::CallPtr& call) {
  std::optional<uint64_t> asked;
  if (call->request.method == "POST") {
    asked = auditor.Ask();
  } else if (call->request.method != "GET") {
    return call->Fail(server::MethodNotAllowedError());
  }
  call->Answer(asked ? 202 : 200, "application/json",
               codec::WriteJson(ToDocument(auditor.GetStatus(), asked)) + "\n");
}

}  // namespace berth::cli
