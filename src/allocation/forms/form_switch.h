// Switches a store from one form of allocations to the other (allocation/claims/allocation_form.h),
// while all servers go on writing:
//
//   1. The note says *switching*. From then on every write keeps both forms, and ranges and
//      reservations cannot be changed.
//   2. Services whose values the new form lacks are *filled* in, some at a time. Each such
//      transaction compares the Services whose values it fills in.
//   3. One snapshot is *checked*: both forms must say what the Services hold.
//   4. The note says that the new form counts. The writes of a server that has not seen this yet
//      conflict with the note and are decided again.
//   5. Remains of the old form are *removed*.
//
// While two Services hold one value, there is no switch: the error names both of them, and a switch
// that has begun is taken back.
//
// Every step can be repeated, by any server. The next switch finishes one that was interrupted, and
// a switch in the other direction takes it back.
//
// Threads: one at a time. It waits for its writes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/forms/form_world.h"
#include "allocation/forms/work_lease.h"
#include "allocation/ledger/ledger.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "commit/sequencer.h"
#include "registry/registry.h"
#include "state/follower.h"

namespace berth::allocation {

/// Runs a write, waits for it and returns its result.
using RunWrite = std::function<base::Result<commit::Written>(commit::Write write)>;
RunWrite WaitFor(commit::Sequencer& sequencer, const base::Clock& clock);

class FormSwitch {
 public:
  struct Parts {
    registry::Registry& registry;
    state::Follower& follower;
    Ledger& ledger;
    const base::Clock& clock;
    RunWrite run;
    registry::Gates gates = {};
  };
  /// All parts must outlive it.
  FormSwitch(Parts parts, const base::SeededRandom& random);

  struct Step {
    std::string_view phase;  // "filling", "checking", "removing".
    uint64_t done = 0;
    uint64_t total = 0;  // 0 if it is not known.
  };
  struct Options {
    AllocationForm to = AllocationForm::kRecords;  // Or kBitmaps.
    bool force = false;                            // Leave out what bitmaps have no room for.
    /// Returns false to stop here; a later run does the rest.
    std::function<bool(const Step& step)> progress = {};
  };
  struct Report {
    bool changed = false;        // False if the store already had the form.
    uint64_t filled = 0;         // Values that the new form lacked.
    uint64_t removed = 0;        // Objects of the old form.
    FormBlockers left_out = {};  // Left out because of `force`.
  };
  base::Result<Report> Run(const Options& options);

  /// Returns the form that an unfinished switch leads to, or nullopt if no switch is unfinished.
  static std::optional<AllocationForm> Unfinished(const FormNote& note);
  /// Returns when a server that works on a switch last wrote anything.
  base::WallTime LastHeardOf(const state::Snapshot& snapshot) const;

 private:
  /// The note as a step finds it. What the step writes is valid only while the note is unchanged.
  struct Work {
    FormNote note = {};
    int64_t revision = 0;
    alloc::PerPool<int64_t> fences = {};  // Of the ranges that the step has read.
    const Options& options;
    Report& report;
  };
  using Decided = commit::Decided;

  base::Result<bool> Next(const Options& options, Report& report,
                          std::optional<base::Error>& verdict);
  std::optional<base::Error> FindObjection(const Work& work, AllocationForm to,
                                           const state::Snapshot& snapshot) const;
  base::Result<void> PutNote(const Work& work, const FormNote& next, bool with_bitmaps);
  base::Result<void> Fill(const Work& work);
  base::Result<void> EnsureBitmaps(const Work& work);
  base::Result<void> Check(const Work& work, const state::Snapshot& snapshot);
  base::Result<void> Remove(const Work& work);
  base::Result<void> RunBatch(const Work& work, std::string_view phase,
                              const std::vector<std::string>& keys);

  bool Lacks(const Work& work, const state::Snapshot& snapshot, const PoolValue& value) const;
  Decided Decide(const Work& work, std::string_view phase, const std::vector<std::string>& keys,
                 const state::ObjectPtr& lease);
  size_t AddBits(const Work& work, const state::Snapshot& snapshot,
                 const std::vector<std::string>& keys, commit::Decision& decision) const;
  void AddRecords(const Work& work, const state::Snapshot& snapshot,
                  const std::vector<std::string>& keys, commit::Decision& decision);
  void AddRecordsOf(const state::Snapshot& snapshot, const codec::Value& service,
                    commit::Decision& decision);
  bool Tell(const Work& work, const Step& step) const;

  const Parts parts_;
  const RecordRows rows_;
  const registry::Row& services_;
  const WorkLease lease_;
  base::SeededRandom random_;
};

}  // namespace berth::allocation
