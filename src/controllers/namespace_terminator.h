// Namespaces that are being deleted: what is in one is deleted, in portions and many at once; what
// has finalizers is waited for, and the namespace's status says so meanwhile; then the namespace is
// let go. Begun again after a restart where it stood, since all there is to know is in the picture.
//
// Nothing can be created in such a namespace: every create depends on its state. So once it was
// seen empty it is empty. Several servers may do this on one store: deletes hold only for the
// object that was seen (uid), and each server goes through a portion in an order of its own.
//
// Threads: the controllers' own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "controllers/context.h"
#include "controllers/facts.h"
#include "controllers/feed.h"
#include "controllers/namespace_remains.h"
#include "controllers/work_queue.h"

namespace berth::controllers {

class NamespaceTerminator final : public Reader {
 public:
  NamespaceTerminator(const Context& context, const base::SeededRandom& random);

  void Begin() override;
  void OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) override;

  /// Does some of what there is to do, as far as there is room for writes. Whether there may be
  /// more.
  bool Work();

  base::SteadyTime NextDue() const { return queue_.NextDue(); }

 private:
  /// A namespace on its way out.
  struct Ending {
    std::string name = {};
    std::string uid = {};
    bool waits = false;  // It has been gone through; what is left goes by itself.
    // Else: how far that has come.
    size_t row = 0;
    std::string from = {};
    std::vector<state::ObjectPtr> portion = {};
    size_t deletes = 0;    // Under way,
    size_t writes = 0;     // and writes of the namespace itself.
    bool changed = false;  // There is reason to go through it again, but not before `next_pass`.
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
  /// Says what is left, or lets the namespace go.
  void Settle(const EndingPtr& ending, const state::Snapshot& snapshot,
              const codec::Value& name_space);
  Remains LookThrough(const Ending& ending, const state::Snapshot& snapshot) const;
  bool HasContent(const Ending& ending, const state::Snapshot& snapshot) const;
  void Write(const EndingPtr& ending, registry::Door door, Writer::Edit edit);
  /// What follows a write of the namespace itself.
  registry::Done Answer(const EndingPtr& ending);
  bool IsCurrent(const EndingPtr& ending) const;
  std::string PrefixOf(const Ending& ending, const registry::Row& row) const;

  const Context context_;
  const registry::Kinds& kinds_;
  const state::Resources& resources_;
  base::SeededRandom random_;
  std::map<std::string, EndingPtr, std::less<>> endings_;
  WorkQueue queue_;  // Their names.
};

}  // namespace berth::controllers
