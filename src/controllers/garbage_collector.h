// Garbage collection over owner references. An object none of whose owners exists any more is
// deleted. An object that still has an owner loses its references to the others. An object that is
// deleted in the foreground is removed when the dependents that block it are gone. An object that
// orphans its dependents is removed when they no longer refer to it.
//
// Each decision is made on one snapshot, which is not older than the question. If a snapshot shows
// a reference to an owner but not the owner, then the owner no longer exists, since its uid was
// known before. A write is valid only for the object that was examined (uid), and a deletion only
// for its state (resourceVersion). So several servers may do this on one store, beside clients,
// without harm.
//
// Threads: that of the controllers.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "controllers/controller_context.h"
#include "controllers/controller_feed.h"
#include "controllers/facts.h"
#include "controllers/owner_index.h"
#include "controllers/verdict.h"
#include "controllers/work_queue.h"

namespace berth::controllers {

class GarbageCollector final : public Reader {
 public:
  explicit GarbageCollector(const Context& context);

  void Begin() override;
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Examines some of the queued objects, as far as there is room for writes. Every change up to
  /// revision `reported` is known. Returns whether there may be more to do.
  bool Work(int64_t reported);

  /// Returns when more work is due, apart from changes and answers.
  base::SteadyTime NextDue() const {
    return batch_state_ == Batch::kNone ? queue_.NextDue() : base::SteadyTime::max();
  }

 private:
  /// Objects that are examined together, on a snapshot that was requested after they were taken.
  enum class Batch : uint8_t { kNone, kAsked, kReady };

  bool TakeBatch();
  bool LookAt(const std::string& key, const state::Snapshot& snapshot, int64_t reported);
  Situation SituationOf(const std::string& key, Facts facts, const state::Snapshot& snapshot) const;
  void CarryOut(const Verdict& verdict, const state::Object& object, const Facts& facts);
  void Edit(const state::Object& object, const Facts& facts, Writer::Edit edit);
  registry::Done Answer(const state::Object& object);
  void OnFailure(const std::string& key, int64_t examined, const base::Error& error);

  const Context context_;
  const FactReader reader_;
  OwnerIndex index_;
  OwnerIndex::Keys look_;  // A member to reuse its memory.
  WorkQueue queue_;
  std::deque<std::string> batch_;
  Batch batch_state_ = Batch::kNone;
  state::TextSet under_way_;  // Objects with a write in progress.
  state::TextSet again_;      // Those of them to examine again after it.
};

}  // namespace berth::controllers
