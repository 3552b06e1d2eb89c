// Builds the view of a cluster from objects, one by one, in any order. The objects are those that
// an API server shows, in JSON, YAML or protobuf, or that a store keeps. Every object is accepted;
// what cannot be read is left out. Pure.
//
//   ClusterReader reader({.source = "services.json", .read_at = clock.Now()});
//   for (...) reader.AddService(object);
//   reader.SetPortRange(...);                 // If the source of the range is not an object.
//   Cluster cluster = std::move(reader).Finish();
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "alloc/range_table.h"
#include "base/result.h"
#include "codec/value.h"
#include "inspect/cluster.h"
#include "rules/record_notes.h"

namespace berth::inspect {

struct ReaderOptions {
  std::string source = {};
  base::WallTime read_at = {};
};

/// The type of an object.
struct ObjectType {
  std::string api_version = {};
  std::string kind = {};
};
/// Returns the type of the items of a list such as a ServiceList. Servers leave it out of the
/// items, and kubectl get --raw shows them so. Empty if this is no such list.
ObjectType ItemTypeOf(const codec::Value& list);
ObjectType ItemTypeOf(std::string_view list_version, std::string_view list_kind);

class ClusterReader {
 public:
  explicit ClusterReader(const ReaderOptions& options);

  void AddService(const codec::Value& service);
  /// Adds an IPAddress of networking.k8s.io as an API server shows it.
  void AddPlainAddress(const codec::Value& address);
  /// Adds the same object as Berth stores it, with the notes.
  void AddStoredAddress(const codec::Value& address, const rules::RecordNotes& notes);
  /// Adds an IPAddress or a NodePort of allocation.berth.io.
  void AddAllocatedAddress(const codec::Value& address);
  void AddNodePort(const codec::Value& port);
  /// Adds a ServiceCIDR, an IPRange or a NodePortRange.
  void AddRange(alloc::RangeKind kind, const codec::Value& range);

  /// Adds an object of any kind by its apiVersion and kind, or all items of a List. Returns the
  /// number of objects that were of use. `type` counts for objects that do not name theirs.
  size_t AddAny(const codec::Value& object, const ObjectType& type = {});

  /// Adds a range that no object of the cluster names. `text` is a CIDR or a port range. Fails if
  /// it is neither.
  base::Result<void> AddGivenRange(std::string_view text, std::string_view source, bool exact);

  void AddGap(Gap gap);

  /// Adds all objects that another reader has.
  void Take(ClusterReader other);
  /// Returns what the records that were added stand for, for a source that does not say what it
  /// keeps. Values of a pool without any record are not expected to have one.
  audit::Keeps KeepsByRecords() const;

  Cluster& view() { return cluster_; }
  const Cluster& view() const { return cluster_; }

  /// Orders everything and adds what had to be assumed: ranges of addresses and of ports, if none
  /// was added, from the values in use. Of an object that was added twice the newer one counts, or
  /// the later one if neither or only the earlier one has a resourceVersion.
  Cluster Finish() &&;

 private:
  void AddRecord(std::optional<audit::RecordFacts> facts, const codec::Value& object);

  Cluster cluster_;
};

/// Kubernetes' default range of node ports.
inline constexpr std::string_view kDefaultPortRange = "30000-32767";

}  // namespace berth::inspect
