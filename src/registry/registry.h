// Create, update and delete of any kind. They fill in metadata and defaults, track who manages
// which fields, validate, and make one write, which is decided on the present state and decided
// again if that changes.
//
// Threads: every function may be called from any thread. `done` is called exactly once, on any
// thread, and must be quick.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "base/result.h"
#include "base/uuid_source.h"
#include "codec/value.h"
#include "commit/sequencer.h"
#include "registry/hooks.h"
#include "registry/kind_rows.h"
#include "registry/request.h"

namespace berth::registry {

class Registry {
 public:
  /// `settings` returns what strategies need to know at present; it may be called from any thread.
  /// All others must outlive the registry.
  Registry(const Kinds& kinds, const state::Resources& resources, commit::Sequencer& sequencer,
           const HookTable& hooks, std::function<Settings()> settings, const base::Clock& clock,
           const base::SeededRandom& random);

  /// Creates an object, given in the stored form. The target's name is taken from the object.
  void Create(Target target, codec::Value object, CommonOptions options, Done done);
  void Update(Target target, UpdateOptions how, NextState next, CommonOptions options, Done done);
  void Delete(Target target, DeleteOptions remove, const CommonOptions& options, Done done);

  /// Decodes an object of a snapshot to its stored form, with its resourceVersion.
  static base::Result<codec::Value> Decode(const Row& row, const state::Object& object);

  /// Returns the hooks of a kind.
  const KindHooks& HooksOf(const Row& row) const { return hooks_.Of(row); }
  const Kinds& GetKinds() const { return kinds_; }
  const state::Resources& GetResources() const { return resources_; }

 private:
  struct Creation;
  struct Change;
  struct Deletion;
  using Decided = commit::Decided;

  void TryCreate(const std::shared_ptr<Creation>& creation);
  Decided DecideCreate(Creation& creation, const state::Snapshot& snapshot,
                       const state::ObjectPtr& current);
  Decided DecideUpdate(Change& change, const state::Snapshot& snapshot,
                       const state::ObjectPtr& current);
  Decided DecideCreateByUpdate(Change& change, const state::Snapshot& snapshot);
  base::Result<Next> NextOf(const Change& change, const codec::Value& old,
                            const state::Object& current) const;
  Decided DecideChange(Change& change, const state::Snapshot& snapshot,
                       const state::Object& current);
  Decided DecideChanged(Change& change, const Attempt& attempt, Draft& draft,
                        const state::Object& current);
  std::optional<base::Error> CompleteChanged(Change& change, codec::Value& object,
                                             const codec::Value& old);
  void Track(const Target& target, Door door, const std::string& manager, const codec::Value& old,
             codec::Value& object) const;
  Decided DecideDelete(Deletion& deletion, const state::Snapshot& snapshot,
                       const state::ObjectPtr& current);
  /// Completes and validates a new object. `manager` is null if managedFields are complete.
  std::optional<base::Error> CompleteNew(const Target& target, Door door,
                                         const std::string* manager, codec::Value& object,
                                         std::vector<std::string>& warnings);
  /// Adds the warnings about a valid object. As Kubernetes does, the client gets them only once the
  /// object has its addresses: a refusal for an address or a port has none of them.
  static void AddAdvice(const Target& target, Door door, const codec::Value& object,
                        std::vector<std::string>& warnings);
  static void AddAdviceOnNew(const Target& target, Door door, const codec::Value& object,
                             std::vector<std::string>& warnings);
  static void AddAdvice(WriteHooks& hooks, const codec::Value& object,
                        std::vector<std::string>& warnings);
  /// Returns the decision to put the draft, after the hooks have added their part.
  Decided Put(WriteHooks& hooks, const Attempt& attempt, Draft& draft) const;
  /// Returns the decision to delete the object, with what the hooks add.
  Decided Remove(WriteHooks& hooks, const Attempt& attempt, const codec::Value& object) const;
  /// Encodes the draft into the decision.
  void Encode(const Row& row, const Draft& draft, commit::Decision& decision) const;
  /// Returns whether there is an object that a create must not replace.
  bool Exists(const Row& row, const state::ObjectPtr& current) const {
    return current != nullptr && hooks_.Of(row).Exists(*current) && !HasEnded(row, *current);
  }
  /// Returns whether the object's time is over, so that the store is about to remove it.
  bool HasEnded(const Row& row, const state::Object& object) const;
  /// Returns what must hold for the object to be deleted.
  std::vector<commit::Guard> KeeperGuards(const Target& target, const codec::Value& object) const;
  /// `shown_name` is the name of the object in a refusal: generateName if it has no name yet.
  std::optional<commit::Guard> NamespaceGuard(const Target& target,
                                              const std::string& shown_name) const;
  /// Returns nullopt if no object can have the name.
  std::optional<std::string> KeyOf(const Target& target) const;
  std::string RandomText(size_t length) EXCLUDES(mutex_);

  const Kinds& kinds_;
  const state::Resources& resources_;
  commit::Sequencer& sequencer_;
  const HookTable& hooks_;
  const std::function<Settings()> settings_;
  const base::Clock& clock_;
  base::UuidSource uuids_;

  base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
};

}  // namespace berth::registry
