// Switches the form in which the store keeps allocations while other requests continue.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "allocation/allocation_forms.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/forms/form_switch.h"
#include "codec/storage.h"
#include "model/services_run.h"

namespace berth::model {
namespace {

using allocation::AllocationForm;

/// A switch is interrupted after some of its writes, now and then.
constexpr int kCutOff = 4;  // Percent of the writes.
constexpr int kMostSteps = 3000;

}  // namespace

void Run::BeginWithBitmaps() {
  const auto put = [this](allocation::BitmapId bitmap, const std::string& range) {
    shared_.Put(allocation::KeyOf(bitmap), allocation::StoredBitmap({.range = range, .data = ""}));
  };
  const std::vector<std::string> cidrs = scene_.ranges.Cidrs();
  put(allocation::BitmapId::kPrimary, cidrs[0]);
  if (cidrs.size() > 1) put(allocation::BitmapId::kSecondary, cidrs[1]);
  put(allocation::BitmapId::kPorts, scene_.ranges.PortText());
  shared_.Put(allocation::kFormKey,
              codec::EncodeStored(
                  allocation::FormObject({.form = AllocationForm::kBitmaps}, shared_.clock.Now()),
                  api::kRangeFenceKind));
}

/// Runs one write of a switch while everything else continues. It may be interrupted, unless
/// `to_the_end` is set.
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
  Log(fmt::format("    replica {} switches to {}", replica, allocation::FormText(to)));
  allocation::FormSwitch the_switch(
      {.registry = server.Registry(),
       .follower = server.Follower(),
       .ledger = server.Ledger(),
       .clock = shared_.clock,
       .run = [this, replica, to_the_end](
                  commit::Write write) { return RunWrite(replica, std::move(write), to_the_end); }},
      base::SeededRandom(random_.Next()));
  const auto report = the_switch.Run({.to = to});
  switching_ = std::nullopt;
  Log(fmt::format("    replica {}: {}", replica, report ? "switched" : report.error().message));
  if (report && report->changed) ++seen_.switches;
}

/// Completes an interrupted switch, or takes it back.
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
