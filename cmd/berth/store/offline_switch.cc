#include "berth/store/offline_switch.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "allocation/forms/form_switch.h"
#include "base/random.h"
#include "berth/store/offline_parts.h"

namespace berth::cli {

base::Result<AllocationStatus> SwitchOffline(std::unique_ptr<store::Engine> engine, bool shared,
                                             const AllocationsArguments& arguments, Tools& tools,
                                             Progress& progress) {
  OfflineParts parts(std::move(engine), shared, tools);
  if (!parts.follower.WaitReady(kLoadLimit)) {
    return base::Fail(
        base::Reason::kServiceUnavailable,
        fmt::format("cannot read the state from the store: {}", parts.follower.GetStats().trouble));
  }
  allocation::FormSwitch one({.registry = parts.registry,
                              .follower = parts.follower,
                              .ledger = parts.ledger,
                              .clock = tools.clock(),
                              .run = allocation::WaitFor(parts.sequencer, tools.clock())},
                             base::SeededRandom::FromKernel());
  const auto report =
      one.Run({.to = *ParseForm(arguments.to),
               .force = arguments.force,
               .progress = [&progress](const allocation::FormSwitch::Step& step) {
                 progress.Show(step.phase, step.done,
                               step.total == 0 ? std::nullopt : std::optional(step.total), 0);
                 return true;
               }});
  if (!report) return tl::unexpected(report.error());
  AllocationStatus status{.form = arguments.to};
  Fill(status, *report);
  return status;
}

}  // namespace berth::cli
