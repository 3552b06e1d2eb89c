// How objects correspond to their messages, for all decoders and encoders. For use inside codec.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/schema.h"
#include "codec/value.h"

namespace berth::codec {

/// The values that an object has for the fields of a message.
class FieldValues {
 public:
  /// A `value` that is not an object counts as an empty object.
  FieldValues(const Value* value, const api::Message& message) {
    const Object* object = value == nullptr ? nullptr : value->AsObject();
    if (object == nullptr) return;
    size_t hint = 0;  // Members are mostly in the message's order.
    for (const Member& member : *object) {
      const api::Field* field = message.Find(member.key, hint);
      if (field == nullptr) continue;
      const size_t position = message.PositionOf(*field);
      values_[position] = &member.value;
      hint = position + 1;
    }
  }

  /// Returns null if the field has no value. `position` is that of the field in its message.
  const Value* At(size_t position) const { return values_[position]; }

 private:
  std::array<const Value*, api::kMaxFields> values_{};
};

/// Returns whether `value` is valid as one value of the field's type. Null never is.
bool FitsType(const Value& value, api::Type type);

/// Returns whether `value`, which fits its type, is Go's value of a field that was never set.
bool IsZeroValue(const Value& value);

/// Returns whether `value`, just read for `field`, means "not set", so that a canonical object does
/// not contain it. Not for lists and maps.
bool IsUnset(const Value& value, const api::Field& field);

/// Collects the members of an object and puts them into the order of its message.
class MemberFiller {
 public:
  MemberFiller(const api::Message& message, size_t most_members) : message_(message) {
    members_.reserve(std::min(most_members, message.fields.size()));
  }

  /// Returns whether the field was marked before.
  bool MarkSeen(size_t position) {
    const uint32_t bit = uint32_t{1} << position;
    const bool before = (seen_ & bit) != 0;
    seen_ |= bit;
    return before;
  }

  /// Returns null if there is no such member.
  Value* Find(size_t position) {
    for (size_t i = 0; i < members_.size(); ++i) {
      if (positions_[i] == position) return &members_[i].value;
    }
    return nullptr;
  }

  /// Adds a member, whose value is null at first. The object must not have it yet.
  Value& Put(size_t position) {
    if (!members_.empty() && positions_[members_.size() - 1] > position) ordered_ = false;
    positions_[members_.size()] = static_cast<uint8_t>(position);
    Member& member = members_.emplace_back();
    member.key = message_.fields[position].name;
    return member.value;
  }

  /// Removes the latest member again.
  void Unput() { members_.pop_back(); }

  /// Removes the member if it exists.
  void Withdraw(size_t position);

  /// Returns the object. To be called once, at the end.
  Object Finish();

 private:
  void Sort();

  const api::Message& message_;
  uint32_t seen_ = 0;
  bool ordered_ = true;
  std::array<uint8_t, api::kMaxFields> positions_;  // Those of members_ in the message.
  std::vector<Member> members_;
};

/// Calls f(const Member&) in the order of keys, which is how Go writes maps.
template <typename F>
void ForEachByKey(const Object& object, F f) {
  const auto by_key = [](const Member& a, const Member& b) { return a.key < b.key; };
  if (std::is_sorted(object.begin(), object.end(), by_key)) {
    for (const Member& member : object) f(member);
    return;
  }
  std::vector<const Member*> sorted;
  sorted.reserve(object.size());
  for (const Member& member : object) sorted.push_back(&member);
  std::sort(sorted.begin(), sorted.end(),
            [&](const Member* a, const Member* b) { return by_key(*a, *b); });
  for (const Member* member : sorted) f(*member);
}

}  // namespace berth::codec
