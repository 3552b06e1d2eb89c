// The way of a store from one form of allocations to the other (commit/allocation_form.h), while
// everybody goes on writing:
//
//   1. The note says *switching*: from then on every write keeps both forms, and nobody changes
//      ranges or reserves anything.
//   2. Services whose values the new form lacks are *filled* in, some at a time; each such
//      transaction compares the Services that it speaks of.
//   3. One picture is *checked*: both forms must say what the Services hold.
//   4. The note says that the new form counts. Servers that have not seen it yet are in conflict
//      with it, and decide again.
//   5. What is left of the old form is *removed*.
//
// Every step can be done again, by anybody: a switch that was cut off is finished by the next one
// that is asked for, and one in the other direction takes it back.
//
// Threads: one at a time. It waits for its writes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "commit/allocations.h"
#include "commit/sequencer.h"
#include "controllers/form_world.h"
#include "controllers/work_lease.h"
#include "registry/allocation_forms.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::controllers {

/// What a write comes to; waits for it.
using RunWrite = std::function<base::Result<commit::Written>(commit::Write write)>;
RunWrite WaitFor(commit::Sequencer& sequencer);

class FormSwitch {
 public:
  struct Parts {
    registry::Registry& registry;
    state::Follower& follower;
    commit::Allocations& allocations;
    const base::Clock& clock;
    RunWrite run;
  };
  /// All parts must outlive it.
  FormSwitch(Parts parts, const base::SeededRandom& random);

  struct Step {
    std::string_view phase;  // "filling", "checking", "removing".
    uint64_t done = 0;
    uint64_t total = 0;  // 0: not known.
  };
  struct Options {
    commit::AllocationForm to = commit::AllocationForm::kRecords;  // Or kBitmaps.
    bool force = false;  // What bitmaps have no room for is left out.
    /// False: stop here; the rest is done another time.
    std::function<bool(const Step& step)> progress = {};
  };
  struct Report {
    bool changed = false;        // Else it was so already.
    uint64_t filled = 0;         // Values that the new form lacked.
    uint64_t removed = 0;        // Objects of the old one.
    FormBlockers left_out = {};  // By force.
  };
  base::Result<Report> Run(const Options& options);

  /// Whether a switch is unfinished, and where it leads to.
  static std::optional<commit::AllocationForm> Unfinished(const registry::FormNote& note);
  /// When somebody who works on one was last heard of.
  base::WallTime LastHeardOf(const state::Snapshot& picture) const;

 private:
  /// The note as a step finds it. What the step writes holds only while it is so.
  struct Work {
    registry::FormNote note = {};
    int64_t revision = 0;
    std::array<int64_t, alloc::kPools> fences = {};  // Of the ranges that were looked at.
    const Options& options;
    Report& report;
  };
  using Decided = tl::expected<commit::Decision, commit::Refusal>;

  base::Result<bool> Next(const Options& options, Report& report,
                          std::optional<base::Error>& verdict);
  base::Result<void> PutNote(const Work& work, const registry::FormNote& next, bool with_bitmaps);
  base::Result<void> Fill(const Work& work);
  base::Result<void> EnsureBitmaps(const Work& work);
  base::Result<void> Check(const Work& work, const state::Snapshot& picture);
  base::Result<void> Remove(const Work& work);
  base::Result<void> RunBatch(const Work& work, std::string_view phase,
                              const std::vector<std::string>& keys);

  bool Lacks(const Work& work, const state::Snapshot& picture,
             const commit::PoolValue& value) const;
  Decided Decide(const Work& work, std::string_view phase, const std::vector<std::string>& keys,
                 const state::ObjectPtr& lease);
  size_t AddBits(const Work& work, const state::Snapshot& picture,
                 const std::vector<std::string>& keys, commit::Decision& decision) const;
  void AddRecords(const Work& work, const state::Snapshot& picture,
                  const std::vector<std::string>& keys, commit::Decision& decision);
  void AddRecordsOf(const state::Snapshot& picture, const codec::Value& service,
                    commit::Decision& decision);
  registry::Chosen LikelyChosen(const commit::PoolValue& value) const;
  bool Tell(const Work& work, const Step& step) const;

  const Parts parts_;
  const registry::RecordRows rows_;
  const registry::Row& services_;
  const WorkLease lease_;
  base::SeededRandom random_;
};

}  // namespace berth::controllers
