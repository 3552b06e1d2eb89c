// A plain implementation of managed fields and server-side apply, straight from their definition
// and without regard to speed. Objects are flattened into a map from paths to leaves, ownership is
// a set of paths, and every rule is a loop over all of them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "api/kinds.h"
#include "codec/value.h"

namespace berth::merge::model {

/// Path elements as fieldsV1 writes them.
using Path = std::vector<std::string>;
using Paths = std::set<Path>;

/// A flattened document. A node is
///   =JSON   a scalar, or a value that is owned as a whole
///   null    {}  []   an empty struct, map or list
///   +       a struct, map or list with contents
///   twice:JSON   all entries of a list that share an element, as one
struct Flat {
  std::map<Path, std::string> nodes;
  std::map<Path, std::vector<std::string>> order;  // The elements of each list.

  bool operator==(const Flat&) const = default;
};

Flat Flatten(const codec::Value& document, const api::Message& message);
codec::Value Unflatten(const Flat& flat);

/// Returns the path element of a list entry.
std::string ElementOf(const api::Field& list, const codec::Value& entry);

/// Operation, name, version (empty for Apply), subresource.
using ManagerKey = std::tuple<std::string, std::string, std::string, std::string>;

struct Manager {
  std::string time;
  Paths fields;

  bool operator==(const Manager&) const = default;
};
using Managers = std::map<ManagerKey, Manager>;

/// Parses the managedFields of an object.
Managers ManagersOf(const codec::Value& object);

struct Write {
  const api::Kind& kind;
  std::string subresource;
  std::string manager;
  std::string time;
};

/// Managers that own a field which an apply would change, with the field.
using Conflicts = std::set<std::pair<ManagerKey, Path>>;

struct Applied {
  Flat document;
  Managers managers;
  Conflicts conflicts;  // If there are any, the other members are unused.
};

Applied Apply(const Write& write, bool force, const Flat& live, const Flat& config,
              const Managers& managers);

/// Returns the managers after a write other than an apply.
Managers Update(const Write& write, const Flat& before, const Flat& after, Managers managers);

}  // namespace berth::merge::model
