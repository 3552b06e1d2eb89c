#include "controllers/namespace_terminator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/read.h"
#include "registry/deletion.h"

namespace berth::controllers {
namespace {

using base::Reason;
using codec::Value;

// Objects that are examined together. They are many more than are written at once, so that servers
// that go through the same objects rarely write the same one.
constexpr size_t kPortion = 8192;
constexpr size_t kTurn = 128;  // Deletes before another namespace gets a turn.
// A pass over the remaining objects takes time, so it is not done for each change of them.
constexpr std::chrono::seconds kPassInterval{1};
constexpr int kIdlePart = 20;  // The pause is so many times as long as the last pass took.
constexpr int kMaxDoublings = 6;

registry::Target NamespaceTarget(const registry::Kinds& kinds, const std::string& name) {
  const registry::Row& row = kinds.NamespaceRow();
  return {.served = {.row = &row, .view = row.views.data()}, .name = name};
}

}  // namespace

NamespaceTerminator::NamespaceTerminator(const Context& context, const base::SeededRandom& random)
    : context_(context),
      kinds_(context.registry.GetKinds()),
      resources_(context.registry.GetResources()),
      random_(random) {}

void NamespaceTerminator::Begin() {
  endings_.clear();  // Later answers find that their ending is no longer current.
  queue_.Clear();
}

void NamespaceTerminator::OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) {
  const state::Object& object = now ? *now : *before;
  if (object.Resource() == kinds_.NamespaceRow().resource) {
    return OnNamespace(object, now == nullptr);
  }
  if (endings_.empty()) return;
  const auto found = endings_.find(object.Namespace());
  if (found == endings_.end()) return;
  found->second->changed = true;
  queue_.Add(found->first);
}

void NamespaceTerminator::OnNamespace(const state::Object& object, bool gone) {
  const std::string name(object.Name());
  if (gone) {
    endings_.erase(name);
    return queue_.Forget(name);
  }
  if (!registry::IsBeingDeleted(kinds_.NamespaceRow(), object)) return;
  EndingPtr& ending = endings_[name];
  if (ending == nullptr || ending->uid != UidOf(object)) {
    ending = std::make_shared<Ending>();
    ending->name = name;
    ending->uid = UidOf(object);
  }
  queue_.Add(name);
}

bool NamespaceTerminator::Work() {
  const base::SteadyTime now = context_.clock.Steady();
  bool any = false;
  while (context_.writer.HasRoom()) {
    const std::optional<std::string> name = queue_.Take(now);
    if (!name) break;
    any = true;
    if (const auto found = endings_.find(*name); found != endings_.end()) {
      Continue(EndingPtr(found->second));
    }
  }
  return any;
}

void NamespaceTerminator::Continue(const EndingPtr& ending) {
  if (ending->writes > 0) return;  // Its answer calls this again.
  const state::SnapshotPtr snapshot = context_.follower.Current();
  const registry::Row& row = kinds_.NamespaceRow();
  const state::ObjectPtr object = snapshot->Find(resources_.Key(row.resource, {}, ending->name));
  if (object == nullptr || UidOf(*object) != ending->uid) return;
  if (ending->waits) {
    const bool empty = !HasContent(*ending, *snapshot);
    if (!empty && !ending->changed) return;
    if (!empty && context_.clock.Steady() < ending->next_pass) {
      return queue_.AddAt(ending->name, ending->next_pass);
    }
    ending->waits = false;
    ending->changed = false;
    ending->row = 0;
    ending->failures.clear();
  }
  GoThrough(ending, *snapshot);
  if (!ending->portion.empty() || ending->row < kinds_.Rows().size()) {
    return queue_.Add(ending->name);
  }
  if (ending->deletes > 0) return;
  const auto value = registry::DecodeWithoutManagedFields(row, *object);
  if (value) Settle(ending, *snapshot, *value);
}

void NamespaceTerminator::GoThrough(const EndingPtr& ending, const state::Snapshot& snapshot) {
  for (size_t begun = 0; begun < kTurn && context_.writer.HasRoom();) {
    if (ending->portion.empty()) {
      if (!TakePortion(*ending, snapshot)) return;
      continue;
    }
    const state::ObjectPtr object = std::move(ending->portion.back());
    ending->portion.pop_back();
    if (snapshot.Find(object->Key()) == nullptr) continue;  // Another server was faster.
    Remove(ending, *object);
    ++begun;
  }
}

/// Takes those of the next objects that must be deleted. Returns false if there were no more
/// objects.
bool NamespaceTerminator::TakePortion(Ending& ending, const state::Snapshot& snapshot) {
  size_t seen = 0;
  for (; ending.row < kinds_.Rows().size(); ++ending.row, ending.from.clear()) {
    const registry::Row& row = kinds_.Rows()[ending.row];
    if (!row.kind->namespaced) continue;
    state::SnapshotIterator at = snapshot.Seek(PrefixOf(ending, row), ending.from);
    for (; at.Valid() && seen < kPortion; at.Next(), ++seen) {
      // An object that is being deleted needs nothing more, unless it waits for its dependents: it
      // must not wait, since they are all deleted too.
      const state::Object& object = *at.Get();
      if (!registry::MayBeDeleted(object) || MayWaitForDependents(object))
        ending.portion.push_back(at.Get());
    }
    if (at.Valid()) {
      ending.from = at.Get()->Key();
      break;
    }
  }
  // Other servers go through the same objects. A random order avoids conflicts with them.
  if (context_.follower.AsksStore()) Shuffle(ending.portion);
  return seen > 0;
}

void NamespaceTerminator::Shuffle(std::vector<state::ObjectPtr>& objects) {
  for (size_t left = objects.size(); left > 1; --left) {
    std::swap(objects[left - 1], objects[base::Uniform(random_, left)]);
  }
}

void NamespaceTerminator::Remove(const EndingPtr& ending, const state::Object& object) {
  const registry::Row& row = kinds_.Rows()[object.Resource()];
  ++ending->deletes;
  context_.writer.Delete({.served = {.row = &row, .view = row.views.data()},
                          .name_space = ending->name,
                          .name = std::string(object.Name())},
                         {.uid = UidOf(object), .propagation = registry::Propagation::kBackground},
                         [this, ending, &row](const base::Result<registry::Outcome>& outcome) {
                           --ending->deletes;
                           if (!outcome && outcome.error().reason != Reason::kNotFound) {
                             ending->failures[std::string(row.kind->plural)] =
                                 outcome.error().message;
                           }
                           if (IsCurrent(ending)) queue_.Add(ending->name);
                         });
}

void NamespaceTerminator::Settle(const EndingPtr& ending, const state::Snapshot& snapshot,
                                 const Value& name_space) {
  const base::SteadyTime begun = context_.clock.Steady();
  const Remains remains = LookThrough(*ending, snapshot);
  const base::SteadyTime now = context_.clock.Steady();
  ending->waits = true;
  ending->failed_passes =
      remains.failures.empty() ? 0 : std::min(ending->failed_passes + 1, kMaxDoublings);
  ending->next_pass =
      now + std::max<std::chrono::nanoseconds>(kPassInterval * (1 << ending->failed_passes),
                                               kIdlePart * (now - begun));
  if (!remains.Empty()) {
    if (!remains.failures.empty()) ending->changed = true;
    if (ending->changed) queue_.AddAt(ending->name, ending->next_pass);
    if (!std::exchange(ending->logged, true)) {
      context_.log.Info("a namespace is being deleted and not empty yet",
                        {{"namespace", ending->name}, {"why", Describe(remains)}});
    }
  }
  const bool ours = HasNamespaceFinalizer(name_space);
  const bool others = HasOtherFinalizers(name_space);
  // The conditions are not written if the namespace is about to be removed. A namespace without
  // finalizers would be removed by this write, whatever is left in it.
  if (others || (ours && !remains.Empty())) {
    const auto edit = [remains, at = context_.clock.Now()](Value& value) {
      SetConditions(value, remains, at);
    };
    Value next = name_space;
    edit(next);
    if (next != name_space) Write(ending, registry::Door::kStatus, edit);
  }
  if (!remains.Empty()) return;
  if (ours) {
    Write(ending, registry::Door::kFinalize, DropNamespaceFinalizer);
  } else if (!others) {
    context_.writer.Delete(NamespaceTarget(kinds_, ending->name), {.uid = ending->uid},
                           Answer(ending));
  }
}

Remains NamespaceTerminator::LookThrough(const Ending& ending,
                                         const state::Snapshot& snapshot) const {
  Remains remains;
  for (const registry::Row& row : kinds_.Rows()) {
    if (!row.kind->namespaced) continue;
    size_t count = 0;
    for (state::SnapshotIterator at = snapshot.Seek(PrefixOf(ending, row)); at.Valid();
         at.Next(), ++count) {
      const auto value = registry::DecodeWithoutManagedFields(row, *at.Get());
      if (!value) continue;
      for (const Value& finalizer : codec::ArrayAt(*value, "metadata", "finalizers")) {
        ++remains.finalizers[std::string(codec::Text(&finalizer))];
      }
    }
    if (count > 0) {
      remains.resources[fmt::format("{}.{}", row.kind->plural, row.kind->group)] = count;
    }
  }
  for (const auto& [resource, failure] : ending.failures) remains.failures.push_back(failure);
  return remains;
}

bool NamespaceTerminator::HasContent(const Ending& ending, const state::Snapshot& snapshot) const {
  return std::ranges::any_of(kinds_.Rows(), [&](const registry::Row& row) {
    return row.kind->namespaced && snapshot.Count(PrefixOf(ending, row)) > 0;
  });
}

void NamespaceTerminator::Write(const EndingPtr& ending, registry::Door door, Writer::Edit edit) {
  context_.writer.Update(NamespaceTarget(kinds_, ending->name), door, ending->uid, std::move(edit),
                         Answer(ending));
}

registry::Done NamespaceTerminator::Answer(const EndingPtr& ending) {
  ++ending->writes;
  return [this, ending](const base::Result<registry::Outcome>& outcome) {
    --ending->writes;
    if (!IsCurrent(ending)) return;
    const bool failed = !outcome && outcome.error().reason != Reason::kNotFound;
    if (!failed) {
      queue_.Forget(ending->name);
      return queue_.Add(ending->name);
    }
    ending->changed = true;
    if (queue_.Retry(ending->name, context_.clock.Steady())) {
      context_.log.Warn("cannot write a namespace that is being deleted",
                        {{"namespace", ending->name}, {"error", outcome.error().message}});
    }
  };
}

bool NamespaceTerminator::IsCurrent(const EndingPtr& ending) const {
  const auto found = endings_.find(ending->name);
  return found != endings_.end() && found->second == ending;
}

std::string NamespaceTerminator::PrefixOf(const Ending& ending, const registry::Row& row) const {
  return resources_.Prefix(row.resource, ending.name);
}

}  // namespace berth::controllers
