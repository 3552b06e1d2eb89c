// Create, update and delete of any kind: metadata, defaults, who manages which fields, validation,
// then one write that is decided on what is there and decided again if that changes.
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
#include "codec/value.h"
#include "commit/sequencer.h"
#include "registry/addresses.h"
#include "registry/kinds.h"
#include "registry/range_changes.h"
#include "registry/reservations.h"

namespace berth::registry {

/// What became of a write: the object as it is now (of a deletion: as it was; of an update that
/// took the last finalizer: as the update would have left it), and what the client should be told
/// beside it.
struct Outcome {
  commit::Written written;
  std::vector<std::string> warnings = {};
};
using Done = std::function<void(base::Result<Outcome>)>;

/// Which object: cluster-scoped ones have no namespace. The name is the view's.
struct Target {
  Served served;
  std::string name_space = {};
  std::string name = {};
};

struct CommonOptions {
  bool dry_run = false;
  base::SteadyTime deadline = base::SteadyTime::max();
  std::string manager = {};  // Who writes, for managedFields.
  /// Ranges may be written whatever form allocations are kept in: the server's own first ones.
  bool in_any_form = false;
};

/// How an update comes about.
enum class Way : uint8_t {
  kReplace,  // The client sends the whole object, which may be new.
  kPatch,    // It changes an object that is there.
  kApply,    // merge::Apply: it may be new, and its managedFields are right already.
};

struct UpdateOptions {
  Door door = Door::kMain;
  Way way = Way::kReplace;
};

/// The new state, in the stored form, and what the client should be told about it.
struct Next {
  codec::Value object;
  std::vector<std::string> warnings = {};
};
/// From the current state; null when there is none and the update may create. Run again when the
/// object has changed meanwhile.
using NextState = std::function<base::Result<Next>(const codec::Value* current)>;

enum class Propagation : uint8_t { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::optional<std::string> uid = {};
  std::optional<std::string> resource_version = {};
  /// Nothing: as a delete before this one has said it, else in the background.
  std::optional<Propagation> propagation = {};
};

/// A last word on a write, after defaults and before validation; an error is the answer. `old` is
/// null for a create, `next` for a delete.
using Admit = std::function<std::optional<base::Error>(
    const Target& target, Door door, const codec::Value* old, const codec::Value* next)>;

class Registry {
 public:
  /// All must outlive it.
  Registry(const Kinds& kinds, const state::Resources& resources, commit::Sequencer& sequencer,
           Addresses& addresses, const Gates& gates, const base::Clock& clock,
           const base::SeededRandom& random);

  void SetAdmit(Admit admit) { admit_ = std::move(admit); }

  /// `object` in the stored form. The target's name is the object's own.
  void Create(Target target, codec::Value object, CommonOptions options, Done done);
  void Update(Target target, UpdateOptions how, NextState next, CommonOptions options, Done done);
  void Delete(Target target, DeleteOptions remove, const CommonOptions& options, Done done);

  /// The object of a snapshot, decoded, in the stored form, with its resourceVersion.
  static base::Result<codec::Value> Decode(const Row& row, const state::Object& object);

  RangeChanges& Ranges() { return ranges_; }
  const Kinds& GetKinds() const { return kinds_; }
  const state::Resources& GetResources() const { return resources_; }
  commit::Sequencer& GetSequencer() const { return sequencer_; }
  const Gates& GetGates() const { return gates_; }

 private:
  struct Creation;
  struct Change;
  struct Deletion;
  using Decided = tl::expected<commit::Decision, commit::Refusal>;

  void TryCreate(const std::shared_ptr<Creation>& creation);
  Decided DecideCreate(Creation& creation, const state::ObjectPtr& current);
  Decided DecideCreateByUpdate(Change& change);
  static base::Result<Next> NextOf(const Change& change, const codec::Value& old,
                                   const state::Object& current);
  Decided DecideUpdate(Change& change, const state::Object& current);
  Decided DecideChanged(Change& change, codec::Value& object, const codec::Value& old,
                        const state::Object& current);
  std::optional<base::Error> CompleteChanged(Change& change, codec::Value& object,
                                             const codec::Value& old);
  void Track(const Target& target, Door door, const std::string& manager, const codec::Value& old,
             codec::Value& object) const;
  Decided DecideDelete(Deletion& deletion, const state::ObjectPtr& current);
  /// `manager`: null when managedFields are right already.
  std::optional<base::Error> CompleteNew(const Target& target, Door door,
                                         const std::string* manager, codec::Value& object,
                                         std::vector<std::string>& warnings);
  /// Adds what a client should hear of a valid object, once it has its addresses: as upstream, one
  /// that is refused an address or a port hears of nothing else.
  static void AddAdvice(const Target& target, Door door, const codec::Value& object,
                        std::vector<std::string>& warnings);
  void AddAdvice(const Reservation& reservation, const codec::Value& object,
                 std::vector<std::string>& warnings) const;
  /// `hidden`: as Strategy::hide.
  commit::Decision PutDecision(const Row& row, const codec::Value& object,
                               std::string_view hidden) const;
  /// A Service is written with what `claims` say; `old` is what it replaces, null: nothing.
  Decided PutWithAddresses(const Row& row, codec::Value& object, const codec::Value* old,
                           const rules::ServiceClaims& claims,
                           commit::Allocations::TicketPtr& ticket);
  /// A new record that somebody reserves a value with.
  Decided PutReservation(const Target& target, Reservation& reservation, codec::Value& object);
  /// A record that cools down does not stand in the way of a new one.
  bool IsThere(const Row& row, const state::ObjectPtr& current) const {
    return current != nullptr && !IsCooling(rows_, *current) && !HasEnded(row, *current);
  }
  /// Its time is over, and the store is about to remove it.
  bool HasEnded(const Row& row, const state::Object& object) const;
  /// A decision about a range, with all that follows from it. Null: there is none, before or after.
  Decided WithRanges(const Target& target, const codec::Value* old, const codec::Value* next,
                     const CommonOptions& options, RangeChanges::OperationPtr& operation,
                     Decided decided);
  /// Records and ranges are written only where allocations are kept in records.
  std::optional<commit::Guard> FormGuard(const Target& target) const;
  /// It goes, and what it holds goes back.
  commit::Decision Removal(const Target& target, const codec::Value& object);
  /// What must hold for the object to go.
  std::vector<commit::Guard> KeeperGuards(const Target& target, const codec::Value& object) const;
  /// `shown_name` is how a refusal names the object: by generateName before it has a name.
  std::optional<commit::Guard> NamespaceGuard(const Target& target,
                                              const std::string& shown_name) const;
  /// As it is at present.
  Settings GetSettings() const { return {.families = addresses_.Families(), .gates = gates_}; }
  /// Nothing: there can be no object of that name.
  std::optional<std::string> KeyOf(const Target& target) const;
  std::string RandomText(size_t length) EXCLUDES(mutex_);
  std::string NewUid() EXCLUDES(mutex_);

  const Kinds& kinds_;
  const RecordRows rows_;
  const state::Resources& resources_;
  commit::Sequencer& sequencer_;
  Addresses& addresses_;
  const Gates gates_;
  RangeChanges ranges_;
  const base::Clock& clock_;
  Admit admit_;

  base::Mutex mutex_;
  base::SeededRandom random_ GUARDED_BY(mutex_);
};

}  // namespace berth::registry
