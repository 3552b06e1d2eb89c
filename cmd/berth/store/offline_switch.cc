#include "berth/store/offline_switch.h"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "base/random.h"
#include "codec/slot.h"
#include "commit/allocations.h"
#include "commit/sequencer.h"
#include "controllers/form_switch.h"
#include "registry/addresses.h"
#include "registry/records.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::cli {
namespace {

constexpr std::chrono::minutes kLoadLimit{10};

bool SameApartFromSlot(std::string_view key, std::string_view sent, std::string_view stored) {
  if (sent == stored) return true;
  std::string cleared(stored);
  codec::ClearSlot(key, cleared);
  return cleared == sent;
}

/// In the order in which they need each other.
struct Parts {
  Parts(std::unique_ptr<store::Engine> the_engine, bool shared, Tools& tools)
      : engine(std::move(the_engine)),
        resources(kinds.MakeResources()),
        allocations(registry::MakeRecordReader(registry::RecordRowsOf(kinds), {}),
                    base::SeededRandom::FromKernel()),
        addresses(allocations, registry::RecordRowsOf(kinds), tools.clock(),
                  base::SeededRandom::FromKernel()),
        follower(*engine, resources, {&allocations},
                 {.shared_store = shared, .same = SameApartFromSlot}, tools.clock(), tools.log()),
        sequencer(follower, {}),
        registry(kinds, resources, sequencer, addresses, {}, tools.clock(),
                 base::SeededRandom::FromKernel()) {
    follower.Start();
  }
  ~Parts() {
    sequencer.Close();
    follower.Stop();
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  const std::unique_ptr<store::Engine> engine;
  const registry::Kinds kinds;
  const state::Resources resources;
  commit::Allocations allocations;
  registry::Addresses addresses;
  state::Follower follower;
  commit::Sequencer sequencer;
  registry::Registry registry;
};

}  // namespace

base::Result<AllocationStatus> SwitchOffline(std::unique_ptr<store::Engine> engine, bool shared,
                                             const AllocationsArguments& arguments, Tools& tools,
                                             Progress& progress) {
  Parts parts(std::move(engine), shared, tools);
  if (!parts.follower.WaitReady(kLoadLimit)) {
    return base::Fail(
        base::Reason::kServiceUnavailable,
        fmt::format("cannot read the state from the store: {}", parts.follower.GetStats().trouble));
  }
  controllers::FormSwitch one({.registry = parts.registry,
                               .follower = parts.follower,
                               .allocations = parts.allocations,
                               .clock = tools.clock(),
                               .run = controllers::WaitFor(parts.sequencer)},
                              base::SeededRandom::FromKernel());
  const auto report =
      one.Run({.to = *ParseForm(arguments.to),
               .force = arguments.force,
               .progress = [&progress](const controllers::FormSwitch::Step& step) {
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
