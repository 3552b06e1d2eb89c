// Garbage collection over owner references. An object all of whose owners are gone is deleted; one
// that has some left loses its references to the others; one that is deleted in the foreground goes
// when the dependents that block it are gone, and one that leaves its dependents behind when they
// no longer name it.
//
// What is decided is decided on one picture, not older than the question. A picture that shows the
// reference to an owner and not the owner shows that it is gone, for its uid was known before. What
// is written holds only for the object that was looked at (uid), and a deletion only for its state
// (resourceVersion). So several servers may do this on one store, beside users, without harm.
//
// Threads: the controllers' own.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "controllers/context.h"
#include "controllers/facts.h"
#include "controllers/feed.h"
#include "controllers/owner_index.h"
#include "controllers/verdict.h"
#include "controllers/work_queue.h"

namespace berth::controllers {

class GarbageCollector final : public Reader {
 public:
  explicit GarbageCollector(const Context& context);

  void Begin() override;
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Looks at some of what there is to look at, as far as there is room for writes. `told`: every
  /// change up to here has been told. Whether there may be more to do.
  bool Work(int64_t told);

  /// When there will be more, other than by changes and answers.
  base::SteadyTime NextDue() const {
    return batch_state_ == Batch::kNone ? queue_.NextDue() : base::SteadyTime::max();
  }

 private:
  /// Objects that are looked at together, on a picture that was asked for after they were taken.
  enum class Batch : uint8_t { kNone, kAsked, kReady };

  bool TakeBatch();
  bool LookAt(const std::string& key, const state::Snapshot& snapshot, int64_t told);
  Situation SituationOf(const std::string& key, Facts facts, const state::Snapshot& snapshot) const;
  void CarryOut(const Verdict& verdict, const state::Object& object, const Facts& facts);
  void Edit(const state::Object& object, const Facts& facts, Writer::Edit edit);
  registry::Done Answer(const state::Object& object);
  void OnFailure(const std::string& key, const base::Error& error);

  const Context context_;
  const FactReader reader_;
  OwnerIndex index_;
  OwnerIndex::Keys look_;  // Kept for its memory.
  WorkQueue queue_;
  std::deque<std::string> batch_;
  Batch batch_state_ = Batch::kNone;
  state::TextSet under_way_;  // Objects that are being written,
  state::TextSet again_;      // and of them those to look at once more behind that.
};

}  // namespace berth::controllers
