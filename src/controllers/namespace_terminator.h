// Namespaces that are being deleted. Their objects are deleted, in portions and many at once. The
// terminator waits for objects that have finalizers, and the namespace's status says so meanwhile.
// Then it removes the namespace. After a restart it continues, since everything it needs is in the
// snapshot.
//
// Nothing can be created in such a namespace, because every create depends on the namespace's
// state. So a namespace that was seen empty stays empty. Several servers may do this on one store:
// a delete is valid only for the object that was seen (uid), and each server goes through a portion
// in its own order.
//
// Threads: that of the controllers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "controllers/controller_context.h"
#include "controllers/controller_feed.h"
#include "controllers/facts.h"
#include "controllers/namespace_remains.h"
#include "controllers/work_queue.h"

namespace berth::controllers {

class NamespaceTerminator final : public Reader {
 public:
  NamespaceTerminator(const Context& context, const base::SeededRandom& random);

  void Begin() override;
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Does some of the work that is due, as far as there is room for writes. Returns whether there
  /// may be more.
  bool Work();

  base::SteadyTime NextDue() const { return queue_.NextDue(); }

 private:
  /// A namespace that is being deleted.
  struct Ending {
    std::string name = {};
    std::string uid = {};
    bool waits = false;  // All objects were handled; the rest is deleted without further action.
    // The position, if not all objects were handled yet.
    size_t row = 0;
    std::string from = {};
    std::vector<state::ObjectPtr> portion = {};
    size_t deletes = 0;    // Deletes in progress.
    size_t writes = 0;     // Writes of the namespace itself in progress.
    bool changed = false;  // Another pass is needed, but not before `next_pass`.
    base::SteadyTime next_pass = {};
    int failed_passes = 0;                             // In a row.
    std::map<std::string, std::string> failures = {};  // By resource.
    bool logged = false;
  };
  using EndingPtr = std::shared_ptr<Ending>;

  void OnNamespace(const state::Object& object, bool gone);
  void Continue(const EndingPtr& ending);
  void GoThrough(const EndingPtr& ending, const state::Snapshot& snapshot);
  void Shuffle(std::vector<state::ObjectPtr>& objects);
  bool TakePortion(Ending& ending, const state::Snapshot& snapshot);
  void Remove(const EndingPtr& ending, const state::Object& object);
  /// Sets the conditions that say what is left, or removes the namespace.
  void Settle(const EndingPtr& ending, const state::Snapshot& snapshot,
              const codec::Value& name_space);
  Remains LookThrough(const Ending& ending, const state::Snapshot& snapshot) const;
  bool HasContent(const Ending& ending, const state::Snapshot& snapshot) const;
  void Write(const EndingPtr& ending, registry::Door door, Writer::Edit edit);
  /// Returns the callback for a write of the namespace itself.
  registry::Done Answer(const EndingPtr& ending);
  bool IsCurrent(const EndingPtr& ending) const;
  std::string PrefixOf(const Ending& ending, const registry::Row& row) const;

  const Context context_;
  const registry::Kinds& kinds_;
  const state::Resources& resources_;
  base::SeededRandom random_;
  std::map<std::string, EndingPtr, std::less<>> endings_;
  WorkQueue queue_;  // Names of the namespaces in endings_.
};

}  // namespace berth::controllers
