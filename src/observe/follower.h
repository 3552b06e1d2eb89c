// The border between an observer and the cluster that it follows. A follower lists each kind and
// then reports its changes; a sink takes them. The watches of an API server, files and tests are
// followers.
//
// For each kind a follower calls, on one thread at a time:
//
//   BeginList  Put*  EndList  (Put | Remove | Seen | Late)*  Lost     and then again
//
// Late and Lost differ. A follower that is late resumes at its revision and reports every
// change in the end. One that is lost has missed changes, and only a list can tell what they led
// to.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "audit/facts.h"
#include "codec/value.h"
#include "inspect/cluster.h"

namespace berth::observe {

enum class WatchedKind : uint8_t {
  kServices,
  kAddresses,  ///< IPAddresses of networking.k8s.io, or of allocation.berth.io on Berth.
  kPorts,      ///< NodePorts of allocation.berth.io.
  kServiceCidrs,
  kIpRanges,
  kPortRanges,
};
inline constexpr std::array kAllWatchedKinds = {WatchedKind::kServices, WatchedKind::kAddresses,
                                                WatchedKind::kPorts,    WatchedKind::kServiceCidrs,
                                                WatchedKind::kIpRanges, WatchedKind::kPortRanges};

/// Returns the name of the resource, such as "services". It is the value of a label.
std::string_view NameOf(WatchedKind kind);

/// What is known about a cluster before its objects are listed.
struct ClusterOutline {
  std::vector<WatchedKind> kinds = {WatchedKind::kServices};  ///< Those that will be followed.
  audit::Keeps keeps = audit::Keeps::kNothing;
  /// Ranges that no object shows, such as one that a flag gives.
  std::vector<inspect::Range> given_ranges = {};
  /// Where the cluster is and which server it has; without objects.
  inspect::Cluster head = {};
};

/// Threads: any, one at a time for each kind.
class ClusterSink {
 public:
  virtual ~ClusterSink() = default;

  /// Replaces the outline. Comes before everything else, or not at all.
  virtual void Describe(ClusterOutline outline) = 0;
  /// Replaces the ranges that no object shows. An API server that was started with other flags has
  /// others. May come at any time after Describe.
  virtual void GiveRanges(std::vector<inspect::Range> ranges) = 0;
  virtual void BeginList(WatchedKind kind) = 0;
  /// Takes an object of a list, or one that was added or changed.
  virtual void Put(WatchedKind kind, const codec::Value& object) = 0;
  virtual void Remove(WatchedKind kind, const codec::Value& object) = 0;
  virtual void EndList(WatchedKind kind, int64_t revision) = 0;
  /// Everything up to now has been reported. A follower says so whenever it knows it: with each
  /// bookmark, and every second while a connection is open. It takes Late back, but not Lost.
  virtual void Seen(WatchedKind kind, int64_t revision) = 0;
  /// The connection is away. Changes that come before the next Seen happened at some time since the
  /// last one, and none is missed. `why` may be empty. May come before the first list.
  virtual void Late(WatchedKind kind, std::string_view why) = 0;
  /// Changes may be missed until the next list ends.
  virtual void Lost(WatchedKind kind, std::string_view why) = 0;
};

/// Follows a cluster from Start until it is destroyed.
class ClusterFollower {
 public:
  virtual ~ClusterFollower() = default;

  /// Begins to report to the sink, which must outlive the follower. Does not wait for the first
  /// list.
  virtual void Start(ClusterSink& sink) = 0;
  /// Tells the sink how well each kind is followed: Seen or Late. To be called every second.
  virtual void Tick() = 0;
};

}  // namespace berth::observe
