// Keeps the objects of a cluster as its API server reports their changes, and makes a view of them
// whenever one is asked for. Pure.
//
// Threads: one at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "codec/value.h"
#include "inspect/cluster.h"
#include "inspect/cluster_reader.h"

namespace berth::inspect {

/// Adds an object of one kind to a reader.
using AddObject = void (*)(ClusterReader& reader, const codec::Value& object);

class LiveCluster {
 public:
  /// `kinds` says how objects of each kind are read. A kind is named by its position.
  explicit LiveCluster(std::vector<AddObject> kinds)
      : kinds_(kinds.size()), add_(std::move(kinds)) {}

  /// Begin and end a list of all objects of a kind. Objects that the list does not name are gone.
  void BeginList(size_t kind) { ++kinds_[kind].list; }
  void EndList(size_t kind);

  /// Takes an object that was listed, added or changed, and one that was deleted.
  void Put(size_t kind, const codec::Value& object);
  void Remove(size_t kind, const codec::Value& object);

  /// Adds everything to a reader.
  void AddTo(ClusterReader& reader) const;

 private:
  /// What the reader makes of one object: one of these, or nothing.
  struct Parts {
    uint32_t list = 0;
    std::vector<Service> services = {};
    std::vector<Record> records = {};
    std::vector<Range> ranges = {};
  };
  struct OfKind {
    uint32_t list = 0;                          // The number of the current list.
    std::map<std::string, Parts> objects = {};  // By namespace and name.
  };

  std::vector<OfKind> kinds_;
  const std::vector<AddObject> add_;
};

}  // namespace berth::inspect
