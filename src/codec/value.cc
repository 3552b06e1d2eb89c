#include "codec/value.h"

#include <absl/hash/hash.h>

#include <bit>
#include <cmath>
#include <limits>

namespace berth::codec {
namespace {

// Up to this size, comparing all keys is faster than hashing one.
constexpr size_t kLargestUnindexed = 16;

constexpr size_t kNowhere = std::numeric_limits<size_t>::max();

// absl's hash is salted per process, so that clients cannot prepare keys that collide.
size_t HashOf(std::string_view key) { return absl::Hash<std::string_view>{}(key); }

}  // namespace

Object::Object() = default;
Object::Object(Object&& other) noexcept = default;
Object& Object::operator=(Object&& other) noexcept = default;
Object::~Object() = default;

Object::Object(std::initializer_list<Member> members) {
  Reserve(members.size());
  for (const Member& member : members) Set(member.key, member.value);
}

Object Object::FromUnique(std::vector<Member> members) {
  Object object;
  object.members_ = std::move(members);
  object.Reindex();
  return object;
}

Object::Object(const Object& other)
    : members_(other.members_),
      index_(other.index_ == nullptr ? nullptr : std::make_unique<Index>(*other.index_)) {}

Object& Object::operator=(const Object& other) {
  if (this != &other) *this = Object(other);
  return *this;
}

size_t Object::Position(std::string_view key) const {
  if (index_ == nullptr) {
    for (size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].key == key) return i;
    }
    return kNowhere;
  }
  const size_t mask = index_->size() - 1;
  for (size_t slot = HashOf(key) & mask; (*index_)[slot] != 0; slot = (slot + 1) & mask) {
    const size_t position = (*index_)[slot] - 1;
    if (members_[position].key == key) return position;
  }
  return kNowhere;
}

void Object::AddToIndex(size_t position) {
  const size_t mask = index_->size() - 1;
  size_t slot = HashOf(members_[position].key) & mask;
  while ((*index_)[slot] != 0) slot = (slot + 1) & mask;
  (*index_)[slot] = static_cast<uint32_t>(position + 1);
}

void Object::Reindex() {
  if (members_.size() <= kLargestUnindexed) {
    index_.reset();
    return;
  }
  // A quarter full, so that the object can double before the next rebuild.
  index_ = std::make_unique<Index>(std::bit_ceil(members_.size() * 4));
  for (size_t i = 0; i < members_.size(); ++i) AddToIndex(i);
}

const Value* Object::Find(std::string_view key) const {
  const size_t position = Position(key);
  return position == kNowhere ? nullptr : &members_[position].value;
}

Value* Object::Find(std::string_view key) {
  const size_t position = Position(key);
  return position == kNowhere ? nullptr : &members_[position].value;
}

Value& Object::Set(std::string key, Value value) {
  if (Value* old = Find(key); old != nullptr) {
    *old = std::move(value);
    return *old;
  }
  members_.push_back({std::move(key), std::move(value)});
  if (index_ != nullptr && members_.size() * 2 <= index_->size()) {
    AddToIndex(members_.size() - 1);
  } else if (members_.size() > kLargestUnindexed) {
    Reindex();
  }
  return members_.back().value;
}

bool Object::Erase(std::string_view key) {
  const size_t position = Position(key);
  if (position == kNowhere) return false;
  members_.erase(members_.begin() + static_cast<std::ptrdiff_t>(position));
  Reindex();
  return true;
}

void Object::EraseIf(const std::function<bool(const Member&)>& remove) {
  std::erase_if(members_, remove);
  Reindex();
}

void Object::Reserve(size_t members) { members_.reserve(members); }

bool Object::operator==(const Object& other) const {
  if (size() != other.size()) return false;
  for (size_t i = 0; i < members_.size(); ++i) {
    const Member& mine = members_[i];
    const Member& theirs = other.members_[i];
    const Value* value = mine.key == theirs.key ? &theirs.value : other.Find(mine.key);
    if (value == nullptr || *value != mine.value) return false;
  }
  return true;
}

Value::Value(double value) {
  if (std::isfinite(value)) data_ = value;
}

Value::Value(FromUnsigned number) {
  if (number.value > uint64_t{std::numeric_limits<int64_t>::max()}) {
    data_ = number.value;
  } else {
    data_ = static_cast<int64_t>(number.value);
  }
}

std::optional<bool> Value::AsBool() const {
  const bool* flag = std::get_if<bool>(&data_);
  return flag == nullptr ? std::nullopt : std::optional(*flag);
}

std::optional<int64_t> Value::AsInt() const {
  const int64_t* number = std::get_if<int64_t>(&data_);
  return number == nullptr ? std::nullopt : std::optional(*number);
}

std::optional<uint64_t> Value::AsUint() const {
  if (const uint64_t* number = std::get_if<uint64_t>(&data_)) return *number;
  const int64_t* number = std::get_if<int64_t>(&data_);
  if (number == nullptr || *number < 0) return std::nullopt;
  return static_cast<uint64_t>(*number);
}

std::optional<double> Value::AsDouble() const {
  if (const double* number = std::get_if<double>(&data_)) return *number;
  if (const int64_t* number = std::get_if<int64_t>(&data_)) return static_cast<double>(*number);
  if (const uint64_t* number = std::get_if<uint64_t>(&data_)) return static_cast<double>(*number);
  return std::nullopt;
}

const Value* Value::Find(std::string_view key) const {
  const Object* object = AsObject();
  return object == nullptr ? nullptr : object->Find(key);
}

Value* Value::Find(std::string_view key) {
  Object* object = AsObject();
  return object == nullptr ? nullptr : object->Find(key);
}

Value& Value::Set(std::string key, Value value) {
  if (AsObject() == nullptr) data_ = Object();
  return AsObject()->Set(std::move(key), std::move(value));
}

Value& Value::Append(Value value) {
  if (AsArray() == nullptr) data_ = Array();
  return AsArray()->emplace_back(std::move(value));
}

}  // namespace berth::codec
