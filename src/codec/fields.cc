#include "codec/fields.h"

namespace berth::codec {

bool FitsType(const Value& value, api::Type type) {
  const Kind kind = value.GetKind();
  switch (type) {
    case api::Type::kString:
    case api::Type::kQuantity:
    case api::Type::kTime:
    case api::Type::kMicroTime:
    case api::Type::kFieldsV1:
      return kind == Kind::kString;
    case api::Type::kBool:
      return kind == Kind::kBool;
    case api::Type::kInt32:
    case api::Type::kInt64:
      return kind == Kind::kInt;
    case api::Type::kIntOrString:
      return kind == Kind::kInt || kind == Kind::kString;
    case api::Type::kMessage:
      break;
  }
  return kind == Kind::kObject;
}

bool IsZeroValue(const Value& value) {
  switch (value.GetKind()) {
    case Kind::kBool:
      return !*value.AsBool();
    case Kind::kInt:
      return *value.AsInt() == 0;
    case Kind::kString:
      return value.AsString()->empty();
    default:
      return value.IsNull();
  }
}

bool IsUnset(const Value& value, const api::Field& field) {
  if (field.IsPointer()) return value.IsNull();
  if (const Object* object = value.AsObject()) return object->empty();
  const bool text_of_either = field.type == api::Type::kIntOrString && value.AsString() != nullptr;
  return !text_of_either && IsZeroValue(value);
}

void MemberFiller::Withdraw(size_t position) {
  for (size_t i = 0; i < members_.size(); ++i) {
    if (positions_[i] != position) continue;
    members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(i));
    std::copy(positions_.begin() + i + 1, positions_.end(), positions_.begin() + i);
    return;
  }
}

// Makes a new vector: moving members one by one costs more.
void MemberFiller::Sort() {
  std::array<uint8_t, api::kMaxFields> place_of{};  // By position: index in members_ plus one.
  for (size_t i = 0; i < members_.size(); ++i) {
    place_of[positions_[i]] = static_cast<uint8_t>(i + 1);
  }
  std::vector<Member> sorted;
  sorted.reserve(members_.size());
  for (const uint8_t place : place_of) {
    if (place != 0) sorted.push_back(std::move(members_[size_t{place} - 1]));
  }
  members_ = std::move(sorted);
}

Object MemberFiller::Finish() {
  if (!ordered_) Sort();
  return Object::FromUnique(std::move(members_));
}

}  // namespace berth::codec
