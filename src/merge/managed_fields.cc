#include "merge/managed_fields.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <utility>

#include "base/go_text.h"
#include "codec/read.h"
#include "merge/managers.h"

namespace berth::merge {
namespace {

using codec::FindAt;
using codec::Value;

constexpr size_t kMostManagerBytes = 128;

const codec::Array* EntriesOf(const Value& object) {
  const Value* value = FindAt(object, "metadata", "managedFields");
  return value == nullptr ? nullptr : value->AsArray();
}

// A list that is empty, or that has one empty entry.
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

// Those that a write starts from. Through a subresource nobody can set them.
Managers Inherited(const FieldWrite& write, const Value& live, const Value& updated) {
  const codec::Array* stored = EntriesOf(live);
  const codec::Array* given = write.subresource.empty() ? EntriesOf(updated) : nullptr;
  if (AsksForReset(given)) return {};
  Managers managers = ReadOrNone(given);
  return managers.empty() ? ReadOrNone(stored) : managers;
}

// Whether both have the same members, these left aside.
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
  Managers managers = Inherited(write, live, updated);
  codec::EraseAt(updated, {"metadata", "managedFields"});
  const bool is_create = codec::StringAt(live, "metadata", "uid").empty();
  if (managers.empty() && !is_create) return;
  if (!managers.empty()) FitManagers(managers, write.kind);
  RecordChange(managers, write,
               Compare(live, updated, *write.kind.message,
                       {.skip = ResetFields(write.kind, write.subresource)}));
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
