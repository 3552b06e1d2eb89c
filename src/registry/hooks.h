// Hooks: what a kind adds to the generic create, update and delete. They are called when the new
// state of an object is complete and valid, may complete it further, and add to the decision what
// has to be written, compared or waited for with it. So a kind with effects beyond its own object
// (Services take addresses, ranges are closed before they shrink) needs no branch in the registry.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/value.h"
#include "commit/write.h"
#include "registry/kind_rows.h"
#include "registry/request.h"
#include "state/object.h"
#include "state/snapshot.h"

namespace berth::registry {

/// One attempt at a write. Everything about it is decided on the one snapshot.
struct Attempt {
  const state::Snapshot& snapshot;
  const Target& target;
  Door door = Door::kMain;
  bool marks_deleted = false;  // A delete that finalizers hold up: only the metadata changes.
};

/// The new state of an object, before it is encoded.
struct Draft {
  codec::Value& object;
  const codec::Value* old = nullptr;  // Null if the object is new.
  std::string hidden = {};            // See Strategy::hide.
};

/// The hooks of one write, from its first attempt to its answer. The functions that return a
/// refusal return nullopt if the write may go on. The default is to add nothing.
///
/// Threads: one at a time.
class WriteHooks {
 public:
  WriteHooks() = default;
  virtual ~WriteHooks() = default;
  WriteHooks(const WriteHooks&) = delete;
  WriteHooks& operator=(const WriteHooks&) = delete;

  /// Called before a new object is completed and validated: once for a create, and in each attempt
  /// of an update that creates. May take out what is not part of the stored object.
  virtual void Begin(codec::Value& /*object*/) {}

  virtual std::optional<commit::Refusal> OnCreate(const Attempt& /*attempt*/, Draft& /*draft*/,
                                                  commit::Decision& /*decision*/) {
    return std::nullopt;
  }
  virtual std::optional<commit::Refusal> OnUpdate(const Attempt& /*attempt*/, Draft& /*draft*/,
                                                  commit::Decision& /*decision*/) {
    return std::nullopt;
  }
  virtual std::optional<commit::Refusal> OnDelete(const Attempt& /*attempt*/,
                                                  const codec::Value& /*old*/,
                                                  commit::Decision& /*decision*/) {
    return std::nullopt;
  }

  /// Returns a warning about the object that was created or updated, if the client should get one.
  virtual std::optional<std::string> Warning(const codec::Value& /*object*/) {
    return std::nullopt;
  }

  /// Called once, when the answer is known and before it is sent.
  virtual void OnAnswer() {}
};

/// The hooks of a kind.
///
/// Threads: every function may be called from any thread.
class KindHooks {
 public:
  KindHooks() = default;
  virtual ~KindHooks() = default;
  KindHooks(const KindHooks&) = delete;
  KindHooks& operator=(const KindHooks&) = delete;

  virtual std::shared_ptr<WriteHooks> Begin(const Target& target, const CommonOptions& options) = 0;

  /// Returns what must hold for any write of the object.
  virtual std::vector<commit::Guard> Guards(const Target& /*target*/) const { return {}; }

  /// Returns whether a stored object counts. An object that does not count does not block a create,
  /// which then replaces it.
  virtual bool Exists(const state::Object& /*object*/) const { return true; }

  /// Returns a warning for a client whose create is refused because the object exists.
  virtual std::optional<std::string> WarningAboutExisting(const Target& /*target*/,
                                                          const state::Object& /*object*/) const {
    return std::nullopt;
  }

  /// Corrects what an object says about other objects, if these have changed since it was stored.
  /// `value` is the object in the stored form, with its hidden parts if the kind has some. A client
  /// is shown the result, and what a client changes is compared with it.
  virtual void Refresh(const state::Object& /*object*/, codec::Value& /*value*/) const {}
  /// Returns whether Refresh leaves an object as it is. `json` is its text in the stored form. Each
  /// read asks that, so it must be cheap.
  virtual bool IsFresh(const state::Object& /*object*/, std::string_view /*json*/) const {
    return true;
  }
};

/// The hooks of all kinds that have some, which must outlive the table.
class HookTable {
 public:
  void Add(const Row& row, KindHooks& hooks) { hooks_.emplace_back(&row, &hooks); }

  /// Returns the hooks of the kind. If the kind has none, returns hooks that add nothing.
  KindHooks& Of(const Row& row) const;

 private:
  std::vector<std::pair<const Row*, KindHooks*>> hooks_;
};

}  // namespace berth::registry
