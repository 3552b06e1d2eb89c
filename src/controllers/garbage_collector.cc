#include "controllers/garbage_collector.h"

#include <algorithm>
#include <utility>

#include "codec/read.h"
#include "registry/deletion.h"

namespace berth::controllers {
namespace {

using base::Reason;
using codec::Value;

constexpr size_t kBatch = 256;
constexpr std::chrono::seconds kReadLimit{10};

void Erase(Value& object, std::string_view field, const std::function<bool(const Value&)>& remove) {
  codec::Array list = codec::ArrayAt(object, "metadata", field);
  std::erase_if(list, remove);
  if (list.empty()) {
    codec::EraseAt(object, {"metadata", field});
  } else {
    codec::SetAt(object, {"metadata", field}, std::move(list));
  }
}

void DropOwners(Value& object, const std::vector<std::string>& uids) {
  Erase(object, "ownerReferences", [&uids](const Value& reference) {
    return std::ranges::find(uids, codec::StringAt(reference, "uid")) != uids.end();
  });
}

void Unblock(Value& object) {
  Value* references = codec::FindAt(object, "metadata", "ownerReferences");
  if (references == nullptr || references->AsArray() == nullptr) return;
  for (Value& reference : *references->AsArray()) {
    if (codec::BoolAt(reference, "blockOwnerDeletion")) {
      codec::SetAt(reference, {"blockOwnerDeletion"}, false);
    }
  }
}

/// Returns whether the error concerns all writes. Such errors are reported elsewhere.
bool IsOfTheStore(Reason reason) {
  return reason == Reason::kTooManyRequests || reason == Reason::kServiceUnavailable ||
         reason == Reason::kTimeout || reason == Reason::kServerTimeout;
}

void Finish(Value& object, std::string_view finalizer) {
  if (!registry::IsBeingDeleted(object)) return;
  Erase(object, "finalizers",
        [finalizer](const Value& each) { return codec::Text(&each) == finalizer; });
}

}  // namespace

GarbageCollector::GarbageCollector(const Context& context)
    : context_(context),
      reader_(context.registry.GetKinds(), context.registry.GetResources(),
              [&follower = context.follower](std::string_view key) {
                return follower.IsUndecodable(key);
              }) {}

void GarbageCollector::Begin() {
  index_.Clear();
  queue_.Clear();
  batch_.clear();  // The snapshot that was requested for it arrives and finds nothing to do.
  again_.clear();
}

void GarbageCollector::OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) {
  look_.clear();
  if (now) {
    index_.Set(now->Key(), reader_.Read(*now), look_);
  } else {
    index_.Remove(before->Key(), look_);
    queue_.Forget(before->Key());
  }
  for (const std::string& key : look_) queue_.Add(key);
}

bool GarbageCollector::Work(int64_t reported) {
  if (batch_state_ == Batch::kNone) return TakeBatch();
  if (batch_state_ == Batch::kAsked) return false;
  const state::SnapshotPtr snapshot = context_.follower.Current();
  while (!batch_.empty() && context_.writer.HasRoom()) {
    const std::string key = std::move(batch_.front());
    batch_.pop_front();
    // Examined later if the index does not have everything yet that the snapshot shows.
    if (!LookAt(key, *snapshot, reported)) queue_.Add(key);
  }
  if (!batch_.empty()) return false;  // An answer makes room.
  batch_state_ = Batch::kNone;
  return true;
}

bool GarbageCollector::TakeBatch() {
  const base::SteadyTime now = context_.clock.Steady();
  while (batch_.size() < kBatch) {
    std::optional<std::string> key = queue_.Take(now);
    if (!key) break;
    batch_.push_back(*std::move(key));
  }
  if (batch_.empty()) return false;
  batch_state_ = Batch::kAsked;
  context_.follower.ReadCurrent(
      now + kReadLimit,
      [this, wake = context_.wake](const base::Result<state::SnapshotPtr>& snapshot) {
        wake->Post([this, ok = snapshot.has_value()] {
          batch_state_ = ok ? Batch::kReady : Batch::kNone;
          if (ok) return;
          for (const std::string& key : batch_) queue_.Retry(key, context_.clock.Steady());
          batch_.clear();
        });
      });
  return true;
}

/// Examines an object. Returns false if it must be examined later.
bool GarbageCollector::LookAt(const std::string& key, const state::Snapshot& snapshot,
                              int64_t reported) {
  if (under_way_.contains(key)) {
    again_.insert(key);
    return true;
  }
  const state::ObjectPtr object = snapshot.Find(key);
  std::optional<Facts> facts = object ? reader_.Read(*object) : std::nullopt;
  if (!facts) {
    queue_.Forget(key);
    return true;
  }
  if (facts->waits != Waits::kNo && object->Revision() > reported) return false;
  const Situation situation = SituationOf(key, *std::move(facts), snapshot);
  CarryOut(Judge(situation), *object, situation.facts);
  return true;
}

Situation GarbageCollector::SituationOf(const std::string& key, Facts facts,
                                        const state::Snapshot& snapshot) const {
  Situation situation{.facts = std::move(facts)};
  for (const Reference& reference : situation.facts.owners) {
    situation.owners.push_back(reader_.StateOf(reference, snapshot));
  }
  situation.dependents = index_.Dependents(key, situation.facts.uid);
  situation.blocking = index_.Blocking(key, situation.facts.uid);
  situation.in_circle = situation.blocking > 0 && index_.WaitsForItself(key);
  return situation;
}

void GarbageCollector::CarryOut(const Verdict& verdict, const state::Object& object,
                                const Facts& facts) {
  using Kind = Verdict::Kind;
  switch (verdict.kind) {
    case Kind::kNothing:
      return queue_.Forget(object.Key());
    case Kind::kDelete:
    case Kind::kDeleteForeground: {
      registry::DeleteOptions remove{.uid = facts.uid,
                                     .resource_version = std::to_string(object.Revision())};
      if (verdict.kind == Kind::kDeleteForeground) {
        remove.propagation = registry::Propagation::kForeground;
      }
      return context_.writer.Delete(reader_.TargetOf(object), std::move(remove), Answer(object));
    }
    case Kind::kDropOwners:
      return Edit(object, facts,
                  [uids = verdict.owners](Value& value) { DropOwners(value, uids); });
    case Kind::kUnblock:
      context_.log.Info("owners in a circle wait for each other; one of them goes first",
                        {{"object", object.Key()}});
      return Edit(object, facts, Unblock);
    case Kind::kFinish:
      return Edit(object, facts,
                  [finalizer = facts.waits == Waits::kOrphan ? registry::kOrphanFinalizer
                                                             : registry::kForegroundFinalizer](
                      Value& value) { Finish(value, finalizer); });
  }
}

void GarbageCollector::Edit(const state::Object& object, const Facts& facts, Writer::Edit edit) {
  context_.writer.Update(reader_.TargetOf(object), registry::Door::kMain, facts.uid,
                         std::move(edit), Answer(object));
}

registry::Done GarbageCollector::Answer(const state::Object& object) {
  std::string key = object.Key();
  under_way_.insert(key);
  return [this, key = std::move(key),
          examined = object.Revision()](const base::Result<registry::Outcome>& outcome) {
    under_way_.erase(key);
    // Examined again whatever the outcome, since another object may have the key by now.
    if (again_.erase(key) > 0) queue_.Add(key);
    if (!outcome) return OnFailure(key, examined, outcome.error());
    queue_.Forget(key);
  };
}

void GarbageCollector::OnFailure(const std::string& key, int64_t examined,
                                 const base::Error& error) {
  if (error.reason == Reason::kNotFound) return queue_.Forget(key);
  // An object that has changed since it was examined is examined again at once. Any other conflict
  // lasts for a while: a range or a reserved address is in use.
  const bool changed = state::RevisionOf(context_.follower.Current()->Find(key)) != examined;
  if (error.reason == Reason::kConflict && changed) return queue_.Add(key);
  const bool first = queue_.Retry(key, context_.clock.Steady());
  if (!first || IsOfTheStore(error.reason)) return;
  context_.log.Warn("cannot do yet what an object's owners or dependents ask for",
                    {{"object", key}, {"error", error.message}});
}

}  // namespace berth::controllers
