// The Services that a pass knows, and the names of Services that records mention, each once and in
// little memory: about 60 bytes for a Service. A Service is referred to by a number.
//
// Threads: one at a time.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "audit/finding.h"

namespace berth::audit {

/// Keeps texts until it is destroyed, one after the other.
class TextStore {
 public:
  /// Returns where the text is kept. It never moves.
  char* Keep(std::string_view text);

 private:
  static constexpr size_t kBlock = size_t{64} * 1024;

  std::vector<std::unique_ptr<char[]>> blocks_;  // NOLINT(modernize-avoid-c-arrays)
  size_t used_ = kBlock;
};

class ServiceTable {
 public:
  using Id = uint32_t;
  static constexpr Id kNone = ~Id{0};

  ServiceTable() : ids_(0, Hash{*this}, Equal{*this}) {}
  ServiceTable(const ServiceTable&) = delete;
  ServiceTable& operator=(const ServiceTable&) = delete;
  ~ServiceTable() = default;

  /// Returns the number of a name, whether or not such a Service was added. Returns kNone if the
  /// name is empty.
  Id Mention(std::string_view name_space, std::string_view name);
  /// Adds a Service and returns its number.
  Id Add(const ObjectRef& service);

  bool Exists(Id id) const { return (TextOf(id)[0] & kExists) != 0; }
  /// Returns whether a Service that exists has the uid.
  bool HasUid(Id id, std::string_view uid) const;
  ObjectRef RefOf(Id id) const;
  /// Returns "namespace/name".
  std::string NameOf(Id id) const;
  /// Orders Services by namespace and name.
  bool Less(Id a, Id b) const { return KeyOf(a) < KeyOf(b); }

 private:
  // A text is a byte of flags, two bytes with the length of the namespace, two bytes with that of
  // the name, the namespace and the name.
  static constexpr size_t kHeader = 5;
  static constexpr char kExists = 1;
  static constexpr char kOddUid = 2;  // The uid is not a UUID: `uid` has the place of its text.

  struct Entry {
    char* text = nullptr;
    int64_t revision = 0;
    std::array<char, 16> uid = {};  // Packed.
  };
  struct Key {
    std::string_view name_space;
    std::string_view name;

    auto operator<=>(const Key&) const = default;
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.
    const ServiceTable& table;
    size_t operator()(Id id) const { return (*this)(table.KeyOf(id)); }
    size_t operator()(const Key& key) const {
      const std::hash<std::string_view> hash;
      return hash(key.name_space) * 0x9E3779B97F4A7C15 + hash(key.name);
    }
  };
  struct Equal {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name.
    const ServiceTable& table;
    bool operator()(Id a, Id b) const { return a == b || table.KeyOf(a) == table.KeyOf(b); }
    bool operator()(Id id, const Key& key) const { return table.KeyOf(id) == key; }
    bool operator()(const Key& key, Id id) const { return table.KeyOf(id) == key; }
  };

  const char* TextOf(Id id) const { return entries_[id].text; }
  Key KeyOf(Id id) const;
  std::string UidOf(Id id) const;
  void SetUid(Entry& entry, std::string_view uid);

  std::deque<Entry> entries_;
  TextStore texts_;
  absl::flat_hash_set<Id, Hash, Equal> ids_;
};

}  // namespace berth::audit
