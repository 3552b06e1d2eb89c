// The table of resources. It says where the objects of each resource are in the store and how a
// stored value becomes wire JSON. The program makes it once at the start. This folder itself knows
// no kinds.
//
// Threads: the table is immutable. `decode` is called from several threads at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "state/key_prefix.h"
#include "state/object.h"

namespace berth::state {

struct Resource {
  std::string name = {};    // For people to read: "services".
  std::string prefix = {};  // "/registry/services/specs/".
  bool namespaced = false;
  /// Returns the wire form of a stored value. Must not throw.
  std::function<base::Result<WireText>(std::string_view stored)> decode = {};
};

class Resources {
 public:
  /// No prefix may be the beginning of another.
  explicit Resources(std::vector<Resource> rows);

  size_t Size() const { return rows_.size(); }
  const Resource& At(uint16_t resource) const { return rows_[resource]; }

  /// Returns nullopt if the key belongs to no resource or does not have the form of its resource.
  std::optional<Identity> Find(std::string_view key) const;

  /// Returns the prefix of all keys of a resource, or of those in one namespace.
  std::string Prefix(uint16_t resource) const { return rows_[resource].prefix; }
  std::string Prefix(uint16_t resource, std::string_view name_space) const;
  /// Returns the key of an object.
  std::string Key(uint16_t resource, std::string_view name_space, std::string_view name) const;

 private:
  std::vector<Resource> rows_;
  std::vector<KeyPrefix> prefixes_;  // One for each row.
  std::vector<uint16_t> by_prefix_;  // In order of prefixes.
};

}  // namespace berth::state
