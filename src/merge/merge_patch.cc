#include "merge/merge_patch.h"

#include <algorithm>

namespace berth::merge {

using codec::Member;
using codec::Object;
using codec::Value;

void ApplyMergePatch(Value& target, const Value& patch) {
  const Object* changes = patch.AsObject();
  if (changes == nullptr) {
    target = patch;
    return;
  }
  Object* object = target.AsObject();
  if (object == nullptr) object = &target.MakeObject();
  const auto is_null = [](const Member& member) { return member.value.IsNull(); };
  if (std::any_of(changes->begin(), changes->end(), is_null)) {
    // All at once, because deleting members one by one would be quadratic.
    object->EraseIf([&](const Member& member) {
      const Value* change = changes->Find(member.key);
      return change != nullptr && change->IsNull();
    });
  }
  for (const Member& change : *changes) {
    if (change.value.IsNull()) continue;
    Value* member = object->Find(change.key);
    if (member == nullptr) member = &object->Set(change.key, nullptr);
    ApplyMergePatch(*member, change.value);
  }
}

}  // namespace berth::merge
