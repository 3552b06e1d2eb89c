// What the picture knows of each resource: where its objects lie in the store and how a stored
// value becomes wire JSON. A table made once by the wiring; state itself knows no kinds.
//
// Threads: immutable; `decode` is called from several threads at once.
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
  std::string name = {};    // For people: "services".
  std::string prefix = {};  // "/registry/services/specs/".
  bool namespaced = false;
  /// A stored value as its wire form. Must not throw.
  std::function<base::Result<WireText>(std::string_view stored)> decode = {};
};

class Resources {
 public:
  /// No prefix may be the beginning of another.
  explicit Resources(std::vector<Resource> rows);

  size_t Size() const { return rows_.size(); }
  const Resource& At(uint16_t resource) const { return rows_[resource]; }

  /// What the key is; nothing when it belongs to no resource or has not the resource's form.
  std::optional<Identity> Find(std::string_view key) const;

  /// The keys of a resource, or of one namespace in it, or of one object.
  std::string Prefix(uint16_t resource) const { return rows_[resource].prefix; }
  std::string Prefix(uint16_t resource, std::string_view name_space) const;
  std::string Key(uint16_t resource, std::string_view name_space, std::string_view name) const;

 private:
  std::vector<Resource> rows_;
  std::vector<KeyPrefix> prefixes_;  // Of each row.
  std::vector<uint16_t> by_prefix_;  // In order of prefixes.
};

}  // namespace berth::state
