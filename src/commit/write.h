// A write as the sequencer takes it: which object, what it depends on, and how the next state
// follows from the current one. Plain data.
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

namespace berth::commit {

/// Another object put in the same transaction (records of addresses, finished namespaces).
struct ExtraPut {
  std::string key = {};
  std::string stored = {};
  state::WireText wire = {};  // Empty: not known; the follower decodes what is stored.
  /// The revision the key must have, 0: it must not exist; nothing: whatever it holds.
  std::optional<int64_t> expected = {};
  std::chrono::seconds ttl{0};
};

struct ExtraDelete {
  std::string key = {};
  std::optional<int64_t> expected = {};  // Nothing: whatever it holds, if anything.
};

/// A number kept under a key that many writes change, with a limit (quotas). Planned with, not yet
/// stored: no kind has one so far.
struct Counter {
  std::string key = {};
  int64_t delta = 0;
  int64_t limit = 0;
};

/// A key of which many writes change a part each (bitmaps). Only one transaction with such a key is
/// under way; writes that wait for it meanwhile go together into the next one, which puts the key
/// once. The key is not the object's own, and no other part of the decision names it.
struct SharedPut {
  std::string key = {};
  /// What is stored for the object. Asked once for all writes that go together.
  std::function<std::string(const state::Object& object)> read = {};
  /// Makes this write's change to what is stored (nothing: the key does not exist), in the order of
  /// the writes. False: it was decided on something that is no longer so, and is decided again. An
  /// error is the write's answer. Unless it is true, it has left `stored` alone.
  std::function<base::Result<bool>(std::optional<std::string>& stored)> apply = {};
};

/// Something else the decision depends on, e.g. its namespace: the commit holds only if that has
/// not changed since it was checked.
struct Guard {
  std::string key = {};
  std::function<std::optional<base::Error>(const state::ObjectPtr& current)> check = {};
};

/// A key and the revision that it must have; 0: it must not exist.
struct Compare {
  std::string key = {};
  int64_t revision = 0;
};

/// What a transform wants to happen.
struct Decision {
  enum class Kind : uint8_t { kNothing, kPut, kDelete };

  Kind kind = Kind::kNothing;
  std::string stored = {};    // kPut: what the store gets, and
  state::WireText wire = {};  // the same as clients see it.
  std::chrono::seconds ttl{0};

  // Puts come before the object itself, in order of revisions, and deletes behind it; but keys that
  // hold no API object have their places behind all other puts (codec/slot.h).
  std::vector<ExtraPut> puts = {};
  std::vector<ExtraDelete> deletes = {};
  std::vector<Counter> counters = {};
  std::vector<SharedPut> shared = {};  // Behind all puts of all writes that go with this one.

  /// What only the decision shows that it depends on. Checked after it, in the same snapshot.
  std::vector<Guard> guards = {};
  /// What it was decided on besides, and many others with it (fences); if the store has gone on, it
  /// is decided again, many times if need be.
  std::vector<Compare> compares = {};

  /// Called exactly once, when it is known whether this decision was committed: with false what it
  /// took (addresses, ...) is free again. An unknown outcome is found out first. A dry-run's, and
  /// one that is decided again, are told false.
  std::function<void(bool committed)> settle = {};
};

/// Why a write cannot be; its answer, unless writes in flight could still change that.
struct Refusal {
  // Most refusals are errors that nothing in flight can change.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Refusal(base::Error the_error) : error(std::move(the_error)) {}
  Refusal(base::Error the_error, std::function<bool(std::function<void()>)> how)
      : error(std::move(the_error)), wait(std::move(how)) {}

  base::Error error;
  /// Calls back when it is worth deciding again; false: it is by now. Empty: it holds.
  std::function<bool(std::function<void()> again)> wait = {};
  /// Called when it has become the answer to a write that was no dry-run, for who counts them.
  std::function<void()> answered = {};
};

/// From the object as it is (null: there is none) to what shall be. Run again when the object has
/// changed meanwhile, so it must not change anything itself.
using Transform = std::function<tl::expected<Decision, Refusal>(const state::ObjectPtr& current)>;

struct Write {
  std::string key = {};
  Transform transform = {};
  std::vector<Guard> guards = {};
  bool dry_run = false;
  /// When its caller gets kTimeout. A write that is in the store by then is finished all the same.
  base::SteadyTime deadline = base::SteadyTime::max();
};

struct Written {
  enum class Kind : uint8_t { kCreated, kUpdated, kDeleted, kUnchanged };

  Kind kind = Kind::kUnchanged;
  /// The new state; of a deletion the last one. Of a dry-run: what would be, with the revision of
  /// what there is (0 if there is nothing).
  state::ObjectPtr object = {};
  int64_t revision =
      0;  // Of the write, a deletion's own too; of what there is if nothing happened.
};

using Done = std::function<void(base::Result<Written>)>;

}  // namespace berth::commit
