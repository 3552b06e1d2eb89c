// How objects and their messages go together, for all decoders and encoders. For use inside codec.
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

/// The values an object has for the fields of a message.
class FieldValues {
 public:
  /// `value` is taken for an empty object if it is none.
  FieldValues(const Value* value, const api::Message& message) {
    const Object* object = value == nullptr ? nullptr : value->AsObject();
    if (object == nullptr) return;
    size_t hint = 0;  // Members mostly come in the message's order.
    for (const Member& member : *object) {
      const api::Field* field = message.Find(member.key, hint);
      if (field == nullptr) continue;
      const size_t position = message.PositionOf(*field);
      values_[position] = &member.value;
      hint = position + 1;
    }
  }

  /// Null if there is none. `position` is that of the field in its message.
  const Value* At(size_t position) const { return values_[position]; }

 private:
  std::array<const Value*, api::kMaxFields> values_{};
};

/// Whether `value` may stand for one value of the field's type; null never does.
bool FitsType(const Value& value, api::Type type);

/// Whether `value`, which fits its type, is what Go has in a field that was never set.
bool IsZeroValue(const Value& value);

/// Whether `value`, just read for `field`, is the same as none, so that a canonical object does not
/// hold it. Not for lists and maps.
bool IsUnset(const Value& value, const api::Field& field);

/// The members of an object on their way into the order of its message.
class MemberFiller {
 public:
  MemberFiller(const api::Message& message, size_t most_members) : message_(message) {
    members_.reserve(std::min(most_members, message.fields.size()));
  }

  /// Whether it was marked before.
  bool MarkSeen(size_t position) {
    const uint32_t bit = uint32_t{1} << position;
    const bool before = (seen_ & bit) != 0;
    seen_ |= bit;
    return before;
  }

  /// Null if there is none.
  Value* Find(size_t position) {
    for (size_t i = 0; i < members_.size(); ++i) {
      if (positions_[i] == position) return &members_[i].value;
    }
    return nullptr;
  }

  /// A new member, null as yet; there must be none.
  Value& Put(size_t position) {
    if (!members_.empty() && positions_[members_.size() - 1] > position) ordered_ = false;
    positions_[members_.size()] = static_cast<uint8_t>(position);
    Member& member = members_.emplace_back();
    member.key = message_.fields[position].name;
    return member.value;
  }

  /// Takes the latest member back.
  void Unput() { members_.pop_back(); }

  /// If it is there.
  void Withdraw(size_t position);

  /// Once, at the end.
  Object Finish();

 private:
  void Sort();

  const api::Message& message_;
  uint32_t seen_ = 0;
  bool ordered_ = true;
  std::array<uint8_t, api::kMaxFields> positions_;  // Of members_, in the message.
  std::vector<Member> members_;
};

/// Calls f(const Member&) in the order of keys, in which Go writes maps.
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
