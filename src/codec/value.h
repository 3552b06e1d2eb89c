// A JSON document as a tree. Parsers produce it, writers take it, and patches are applied to it. A
// Value is a regular type: copies are deep, moves are cheap, and == compares contents.
//
// Numbers: an integer that fits int64 is an int64, a larger one that fits uint64 is a uint64, and
// everything else is a double. So each number has one representation. JSON has no NaN or infinity;
// a Value made from one is null. 1 and 1.0 are different Values.
//
// Threads: like a standard container, safe to read from several. Errors: nothing here fails.
// Copying, comparing and destroying recurse once per level, so code that builds trees without a
// parser must bound their depth too.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth::codec {

class Value;
struct Member;

using Array = std::vector<Value>;

/// Keys and their values in the order of insertion, each key once. Small objects are searched from
/// front to back. Larger ones keep a hash index, so Find and Set take constant time.
class Object {
 public:
  Object();
  Object(std::initializer_list<Member> members);

  /// Makes an object of `members`. The caller guarantees that no key occurs twice.
  static Object FromUnique(std::vector<Member> members);

  Object(const Object& other);
  Object(Object&& other) noexcept;
  Object& operator=(const Object& other);
  Object& operator=(Object&& other) noexcept;
  ~Object();

  size_t size() const;
  bool empty() const;
  std::vector<Member>::const_iterator begin() const;
  std::vector<Member>::const_iterator end() const;

  /// Returns null if there is no such key. The pointer is valid until the
  /// next change of the object.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);

  /// Sets the value of a key. An existing key keeps its position; a new one is added at the end.
  Value& Set(std::string key, Value value);

  /// Returns whether there was such a key. Takes time linear in size(), as
  /// EraseIf does for any number of keys.
  bool Erase(std::string_view key);
  void EraseIf(const std::function<bool(const Member&)>& remove);

  void Reserve(size_t members);

  /// Returns whether both have the same keys with equal values, in any order.
  bool operator==(const Object& other) const;

 private:
  // An open-addressing table of positions in members_ plus one; 0 is a free slot. It holds
  // positions, not pointers or hashes, so that copying and moving an Object need not change it.
  using Index = std::vector<uint32_t>;

  size_t Position(std::string_view key) const;
  void AddToIndex(size_t position);
  void Reindex();

  std::vector<Member> members_;
  std::unique_ptr<Index> index_;  // Null while the object is small.
};

enum class Kind : uint8_t { kNull, kBool, kInt, kUint, kDouble, kString, kArray, kObject };

class Value {
 public:
  // The constructors are implicit, so that documents in code look like JSON.
  // NOLINTBEGIN(google-explicit-constructor)
  Value() = default;
  Value(std::nullptr_t) {}
  Value(std::same_as<bool> auto value) : data_(value) {}
  Value(std::signed_integral auto value) : data_(int64_t{value}) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Value(T value) : Value(FromUnsigned{value}) {}
  Value(double value);
  Value(std::string text) : data_(std::move(text)) {}
  Value(std::string_view text) : data_(std::string(text)) {}
  Value(const char* text) : data_(std::string(text)) {}
  Value(Array items) : data_(std::move(items)) {}
  Value(Object members) : data_(std::move(members)) {}
  // NOLINTEND(google-explicit-constructor)

  Kind GetKind() const { return static_cast<Kind>(data_.index()); }
  bool IsNull() const { return GetKind() == Kind::kNull; }

  /// Each getter returns null or nullopt for other kinds. There are no conversions, except that
  /// AsUint also works for an int that is not negative, and AsDouble for every number.
  std::optional<bool> AsBool() const;
  std::optional<int64_t> AsInt() const;
  std::optional<uint64_t> AsUint() const;
  std::optional<double> AsDouble() const;
  const std::string* AsString() const { return std::get_if<std::string>(&data_); }
  const Array* AsArray() const { return std::get_if<Array>(&data_); }
  const Object* AsObject() const { return std::get_if<Object>(&data_); }
  std::string* AsString() { return std::get_if<std::string>(&data_); }
  Array* AsArray() { return std::get_if<Array>(&data_); }
  Object* AsObject() { return std::get_if<Object>(&data_); }

  /// Replaces the value by this one, and returns it. For building trees in place.
  std::string& MakeString(std::string_view text) { return data_.emplace<std::string>(text); }
  Array& MakeArray() { return data_.emplace<Array>(); }
  Object& MakeObject();

  /// Also returns null if this is not an object.
  const Value* Find(std::string_view key) const;
  Value* Find(std::string_view key);

  /// Like Object::Set and Array::push_back. A Value of another kind becomes an empty object or
  /// array first, as RFC 7396 defines it for objects.
  Value& Set(std::string key, Value value);
  Value& Append(Value value);

  bool operator==(const Value&) const = default;

 private:
  struct FromUnsigned {
    uint64_t value;
  };
  explicit Value(FromUnsigned number);

  // In the order of Kind.
  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Array, Object> data_;
};

struct Member {
  std::string key;
  Value value;

  bool operator==(const Member&) const = default;
};

inline Object& Value::MakeObject() { return data_.emplace<Object>(); }
inline size_t Object::size() const { return members_.size(); }
inline bool Object::empty() const { return members_.empty(); }
inline std::vector<Member>::const_iterator Object::begin() const { return members_.begin(); }
inline std::vector<Member>::const_iterator Object::end() const { return members_.end(); }

}  // namespace berth::codec
