// A write as the sequencer takes it: the object's key, what the write depends on, and how the next
// state follows from the current one. Plain data.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "state/object.h"
#include "state/snapshot.h"

namespace berth::commit {

/// Another key that is put in the same transaction.
struct ExtraPut {
  std::string key = {};
  std::string stored = {};
  state::WireText wire = {};  // If empty, the follower decodes `stored`.
  /// The revision that the key must have. 0 means that it must not exist, nullopt that its revision
  /// does not matter.
  std::optional<int64_t> expected = {};
  std::chrono::seconds ttl{0};
};

/// Another key that is deleted in the same transaction.
struct ExtraDelete {
  std::string key = {};
  std::optional<int64_t> expected = {};  // Nullopt also if the key need not exist.
};

/// A key of which many writes change a part each. Only one transaction with such a key is under
/// way. Writes that wait for it meanwhile are merged into the next transaction, which puts the key
/// once. The key is not the object's own, and no other part of the decision names it.
struct SharedPut {
  std::string key = {};
  /// Returns the stored value of the object. Called once for all writes of a transaction.
  std::function<std::string(const state::Object& object)> read = {};
  /// Makes this write's change to the stored value, which is nullopt if the key does not exist.
  /// Writes of one transaction are applied in their order. Returns false if the write was decided
  /// on something that has changed and must be decided again. An error is the write's answer.
  /// Changes `stored` only if it returns true.
  std::function<base::Result<bool>(std::optional<std::string>& stored)> apply = {};
};

/// Another object that the decision depends on. The write is committed only if that object has not
/// changed since it was checked.
struct Guard {
  std::string key = {};
  std::function<std::optional<base::Error>(const state::ObjectPtr& current)> check = {};
};

/// A key and the revision that it must have. 0 means that the key must not exist.
struct Compare {
  std::string key = {};
  int64_t revision = 0;
};

/// What a transform wants to happen.
struct Decision {
  enum class Kind : uint8_t { kNothing, kPut, kDelete };

  Kind kind = Kind::kNothing;
  std::string stored = {};    // For kPut: the object as it is stored,
  state::WireText wire = {};  // and the same object as clients see it.
  std::chrono::seconds ttl{0};

  // Revisions follow this order: puts, the object itself, deletes. Keys that hold no API object
  // are put after all other puts (codec/slot.h).
  std::vector<ExtraPut> puts = {};
  std::vector<ExtraDelete> deletes = {};
  std::vector<SharedPut> shared = {};  // After all puts of all writes of the transaction.

  /// Guards discovered while deciding. They are checked after the transform, on the same snapshot.
  std::vector<Guard> guards = {};
  /// Keys that this and many other decisions depend on (fences). If one of them has changed, the
  /// write is decided again, many times if need be.
  std::vector<Compare> compares = {};

  /// Called exactly once, when it is known whether this decision was committed. With false, the
  /// callee releases what the transform took for it. An unknown outcome is resolved first. Called
  /// with false too for a dry-run and for a decision that is made again.
  std::function<void(bool committed)> on_outcome = {};

  /// Returns whether it does anything beside the object's own put or delete.
  bool HasMore() const {
    return !puts.empty() || !deletes.empty() || !shared.empty() || !guards.empty() ||
           !compares.empty() || on_outcome;
  }
};

/// Why a write is not sent now. The error is the answer, unless `wait` or `step` is set.
struct Refusal {
  // Most refusals are final errors.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Refusal(base::Error the_error) : error(std::move(the_error)) {}
  Refusal(base::Error the_error, std::function<bool(std::function<void()>)> how)
      : error(std::move(the_error)), wait(std::move(how)) {}

  base::Error error;
  /// Waits for writes in flight that could change the refusal, and does nothing else. Calls back
  /// when the write should be decided again. Returns false if it should be decided again at once,
  /// and then never calls back.
  std::function<bool(std::function<void()> again)> wait = {};
  /// Does work that has to be done before the write can be decided, such as closing a range, and
  /// calls back when the write should be decided again. The write stays the first of its object
  /// meanwhile. A dry-run must not have one.
  std::function<void(std::function<void()> again)> step = {};
  /// Called when the refusal has become the answer to a write that was no dry-run.
  std::function<void()> answered = {};
};

using Decided = tl::expected<Decision, Refusal>;

/// Decides the outcome of a write on one snapshot, given the object as it is there (null if it does
/// not exist). The transform runs again when something that it was decided on has changed, so it
/// must not change anything itself.
using Transform =
    std::function<Decided(const state::Snapshot& snapshot, const state::ObjectPtr& current)>;

struct Write {
  std::string key = {};
  Transform transform = {};
  std::vector<Guard> guards = {};
  bool dry_run = false;
  /// When the caller gets kTimeout. A write that is in the store by then is finished all the same.
  base::SteadyTime deadline = base::SteadyTime::max();
};

/// The outcome of a write.
struct Written {
  enum class Kind : uint8_t { kCreated, kUpdated, kDeleted, kUnchanged };

  Kind kind = Kind::kUnchanged;
  /// The new state, or the last state of a deleted object. A dry-run returns the state that the
  /// write would have produced, with the current revision of the object (0 if it does not exist).
  state::ObjectPtr object = {};
  /// Revision of the write, also of a delete. If nothing was written, the revision of the object.
  int64_t revision = 0;
};

using Done = std::function<void(base::Result<Written>)>;

}  // namespace berth::commit
