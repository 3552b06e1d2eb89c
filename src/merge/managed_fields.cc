#include "merge/managed_fields.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "base/go_text.h"
#include "codec/read.h"
#include "merge/managers.h"
#include "merge/new_fields.h"

namespace berth::merge {
namespace {

using codec::FindAt;
using codec::Value;

constexpr size_t kMostManagerBytes = 128;

const codec::Array* EntriesOf(const Value& object) {
  const Value* value = FindAt(object, "metadata", "managedFields");
  return value == nullptr ? nullptr : value->AsArray();
}

// Returns whether the list is empty or has one empty entry.
bool AsksForReset(const codec::Array* entries) {
  if (entries == nullptr) return false;
  if (entries->empty()) return true;
  const codec::Object* only = entries->size() == 1 ? entries->front().AsObject() : nullptr;
  return only != nullptr && only->empty();
}

Managers ReadOrNone(const codec::Array* entries) {
  if (entries == nullptr) return {};
  return ReadManagers(*entries).value_or(Managers());
}

// Returns the managers before the write.
Managers Inherited(const codec::Array* stored, const codec::Array* given) {
  if (AsksForReset(given)) return {};
  Managers managers = ReadOrNone(given);
  return managers.empty() ? ReadOrNone(stored) : managers;
}

bool ChangesNothing(const Comparison& comparison) {
  return comparison.changed.Difference(UnownedFields()).Empty() &&
         comparison.removed.Difference(UnownedFields()).Empty();
}

// Tracks the creation of an object, which had no managers before.
void TrackCreate(const FieldWrite& write, Value& created) {
  Manager writer = WriterOf(write);
  writer.fields_v1 =
      FieldsOfNewObject(created, *write.kind.message, ResetFields(write.kind, write.subresource));
  if (writer.fields_v1.empty()) return;
  codec::Array entries;
  entries.push_back(WriteManager(std::move(writer)));
  codec::SetAt(created, {"metadata", "managedFields"}, std::move(entries));
}

// Returns whether both have the same members, except for `names`.
bool SameExcept(const codec::Object& a, const codec::Object& b,
                std::initializer_list<std::string_view> names) {
  const auto is_left_aside = [&](const codec::Member& member) {
    return std::find(names.begin(), names.end(), member.key) != names.end();
  };
  const auto count = [&](const codec::Object& object) {
    return std::count_if(object.begin(), object.end(), std::not_fn(is_left_aside));
  };
  return count(a) == count(b) && std::all_of(a.begin(), a.end(), [&](const codec::Member& member) {
           const Value* other = is_left_aside(member) ? &member.value : b.Find(member.key);
           return other != nullptr && (other == &member.value || *other == member.value);
         });
}

bool SameButForTime(const Value& a, const Value& b) {
  const codec::Object* entry = a.AsObject();
  const codec::Object* other = b.AsObject();
  return entry != nullptr && other != nullptr && SameExcept(*entry, *other, {"time"});
}

}  // namespace

void TrackUpdate(const FieldWrite& write, const Value& live, Value& updated) {
  const codec::Array* stored = EntriesOf(live);
  const codec::Array* given = write.subresource.empty() ? EntriesOf(updated) : nullptr;
  const bool is_create = codec::ObjectAt(live).empty();
  if (is_create && given == nullptr) return TrackCreate(write, updated);
  const Comparison comparison = Compare(live, updated, *write.kind.message,
                                        {.skip = ResetFields(write.kind, write.subresource)});
  if (stored != nullptr && (given == nullptr || *given == *stored) && ChangesNothing(comparison)) {
    codec::CopyAt(updated, live, {"metadata", "managedFields"});
    return;
  }
  Managers managers = Inherited(stored, given);
  codec::EraseAt(updated, {"metadata", "managedFields"});
  if (managers.empty()) {
    if (is_create) TrackCreate(write, updated);
    return;
  }
  FitManagers(managers, write.kind);
  RecordChange(managers, write, comparison);
  if (managers.empty()) return;
  codec::SetAt(updated, {"metadata", "managedFields"}, WriteManagers(managers));
}

void KeepTimesOfNoChange(const Value& old, Value& updated) {
  const codec::Array* before = EntriesOf(old);
  const codec::Array* after = EntriesOf(updated);
  if (before == nullptr || after == nullptr || before->size() != after->size()) return;
  if (*before == *after ||
      !std::equal(before->begin(), before->end(), after->begin(), SameButForTime)) {
    return;
  }
  const bool same =
      SameExcept(codec::ObjectAt(old), codec::ObjectAt(updated), {"metadata"}) &&
      SameExcept(codec::ObjectAt(old, "metadata"), codec::ObjectAt(updated, "metadata"),
                 {"managedFields", "resourceVersion"});
  if (!same) return;
  codec::CopyAt(updated, old, {"metadata", "managedFields"});
}

std::string ManagerOfUserAgent(std::string_view user_agent) {
  return base::OnlyVisible(user_agent.substr(0, user_agent.find('/')), kMostManagerBytes);
}

}  // namespace berth::merge
