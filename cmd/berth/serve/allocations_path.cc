#include "berth/serve/allocations_path.h"

#include <utility>

#include "allocation/allocation_forms.h"
#include "codec/json.h"
#include "codec/read.h"
#include "server/status_body.h"

namespace berth::cli {
namespace {

using allocation::AllocationForm;
using controllers::AllocationKeeper;

}  // namespace

std::optional<AllocationForm> ParseForm(std::string_view text) {
  for (const auto form : {AllocationForm::kRecords, AllocationForm::kBitmaps}) {
    if (text == allocation::FormText(form)) return form;
  }
  return std::nullopt;
}

codec::Value ToDocument(const AllocationStatus& status) {
  codec::Object document{{"form", status.form}, {"running", status.running}};
  if (!status.phase.empty()) document.Set("phase", status.phase);
  document.Set("done", static_cast<int64_t>(status.done));
  document.Set("total", static_cast<int64_t>(status.total));
  document.Set("changed", status.changed);
  document.Set("filled", static_cast<int64_t>(status.filled));
  document.Set("removed", static_cast<int64_t>(status.removed));
  if (!status.left_out.empty()) document.Set("leftOut", status.left_out);
  if (!status.error.empty()) document.Set("error", status.error);
  return document;
}

AllocationStatus FromDocument(const codec::Value& document) {
  const auto number = [&document](const char* name) {
    return static_cast<uint64_t>(codec::IntAt(document, name));
  };
  return {.form = std::string(codec::StringAt(document, "form")),
          .running = codec::BoolAt(document, "running"),
          .phase = std::string(codec::StringAt(document, "phase")),
          .done = number("done"),
          .total = number("total"),
          .changed = codec::BoolAt(document, "changed"),
          .filled = number("filled"),
          .removed = number("removed"),
          .left_out = std::string(codec::StringAt(document, "leftOut")),
          .error = std::string(codec::StringAt(document, "error"))};
}

void Fill(AllocationStatus& status, const allocation::FormSwitch::Report& report) {
  status.changed = report.changed;
  status.filled = report.filled;
  status.removed = report.removed;
  status.left_out = allocation::FormBlockersText(report.left_out);
}

AllocationStatus StatusOf(const AllocationKeeper::Status& status) {
  AllocationStatus out{.form = std::string(allocation::FormText(status.note.form)),
                       .running = status.running,
                       .phase = status.phase,
                       .done = status.done,
                       .total = status.total};
  if (!status.last) return out;
  if (*status.last) {
    Fill(out, **status.last);
  } else {
    out.error = status.last->error().message;
  }
  return out;
}

void ServeAllocations(AllocationKeeper& keeper, const server::CallPtr& call) {
  const auto answer = [&](int code) {
    call->Answer(code, "application/json",
                 codec::WriteJson(ToDocument(StatusOf(keeper.GetStatus()))) + "\n");
  };
  if (call->request.method == "GET") return answer(200);
  if (call->request.method != "POST") return call->Fail(server::MethodNotAllowedError());
  const auto to = ParseForm(call->query.Get("to"));
  if (!to) {
    return call->Fail(
        {.reason = base::Reason::kBadRequest, .message = "to: must be records or bitmaps"});
  }
  if (!keeper.Ask({.to = *to, .force = call->query.Flag("force")})) {
    return call->Fail({.reason = base::Reason::kConflict,
                       .message = "another switch of the form of allocations is in progress"});
  }
  answer(202);
}

}  // namespace berth::cli
