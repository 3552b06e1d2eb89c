// The form that the store keeps allocations in, switched while everybody goes on.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "codec/storage.h"
#include "commit/bitmaps.h"
#include "controllers/form_switch.h"
#include "model/services_run.h"
#include "registry/allocation_forms.h"

namespace berth::model {
namespace {

using commit::AllocationForm;

/// A switch is cut off after some of its writes, now and then.
constexpr int kCutOff = 4;  // Percent of the writes.
constexpr int kMostSteps = 3000;

}  // namespace

void Run::BeginWithBitmaps() {
  const auto put = [this](int bitmap, const std::string& range) {
    shared_.Put(std::string(commit::kBitmaps[static_cast<size_t>(bitmap)].key),
                commit::StoredBitmap({.range = range, .data = ""}));
  };
  const std::vector<std::string> cidrs = scene_.ranges.Cidrs();
  put(commit::kPrimaryBitmap, cidrs[0]);
  if (cidrs.size() > 1) put(commit::kSecondaryBitmap, cidrs[1]);
  put(commit::kPortBitmap, scene_.ranges.PortText());
  shared_.Put(registry::kFormKey,
              codec::EncodeStored(
                  registry::FormObject({.form = AllocationForm::kBitmaps}, shared_.clock.Now()),
                  api::kRangeFenceKind));
}

/// Meanwhile everything else goes on; it may be cut off, unless it has to come to its end.
base::Result<commit::Written> Run::RunWrite(size_t replica, commit::Write write, bool to_the_end) {
  if (!to_the_end && Percent(kCutOff)) {
    return base::Fail(base::Reason::kServiceUnavailable, "cut off");
  }
  const auto answer = std::make_shared<std::optional<base::Result<commit::Written>>>();
  servers_[replica]->Sequencer().Submit(
      std::move(write),
      [answer](base::Result<commit::Written> written) { *answer = std::move(written); });
  for (int i = 0; i < kMostSteps && !*answer && failure_.empty(); ++i) Step();
  if (!*answer && failure_.empty()) Fail("a write of the switch is not answered");
  return *answer ? **std::move(answer) : base::Fail(base::Reason::kTimeout, "no answer");
}

void Run::SwitchForm(size_t replica, AllocationForm to, bool to_the_end) {
  switching_ = replica;
  Server& server = *servers_[replica];
  Log(fmt::format("    replica {} switches to {}", replica, registry::FormText(to)));
  controllers::FormSwitch the_switch(
      {.registry = server.Registry(),
       .follower = server.Follower(),
       .allocations = server.Allocations(),
       .clock = shared_.clock,
       .run = [this, replica, to_the_end](
                  commit::Write write) { return RunWrite(replica, std::move(write), to_the_end); }},
      base::SeededRandom(random_.Next()));
  const auto report = the_switch.Run({.to = to});
  switching_ = std::nullopt;
  Log(fmt::format("    replica {}: {}", replica, report ? "switched" : report.error().message));
  if (report && report->changed) ++seen_.switches;
}

/// What was cut off is finished, or taken back.
void Run::FinishSwitch() {
  const Form& form = Now().form;
  if (form.form == AllocationForm::kRecords && !form.removing) return;
  for (int tries = 0; tries < 20 && failure_.empty(); ++tries) {
    SwitchForm(Draw(servers_.size()),
               Percent(50) ? AllocationForm::kBitmaps : AllocationForm::kRecords, true);
    if (failure_.empty()) Drain();
    const Form& now = Now().form;
    const bool whole = now.form == AllocationForm::kRecords || now.form == AllocationForm::kBitmaps;
    if (whole && !now.removing) return;
  }
  if (failure_.empty()) Fail("a switch of the form is never finished");
}

}  // namespace berth::model
