// Reads the objects of a cluster from its API server: Services, records, ranges, and the flags that
// decide the range of node ports. Reads only: every request is a GET.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "berth/inspect/api_listings.h"
#include "http/stop_signal.h"
#include "inspect/cluster_reader.h"
#include "kube/access.h"

namespace berth::cli {

/// Called now and then with the number of objects read so far.
using ApiProgress = std::function<void(uint64_t objects)>;

struct ApiReading {
  /// Whether the range of node ports has to be found. It is not if a flag gives it.
  bool find_port_range = true;
  ApiProgress progress = {};
  /// Leaves Services and records out, and only finds out whether the server shows them.
  bool outline_only = false;
  /// Goes on with some Services if the user may not list all of them. Otherwise that is an error.
  bool some_services = false;
  std::shared_ptr<const http::StopSignal> stop = {};  ///< Ends the reading early. May be null.
  /// Receives the listings that the server shows, apart from the Services. May be null.
  std::vector<Listing>* readable = nullptr;
};

/// Adds what the API server shows. What it refuses or does not know becomes a gap. Fails if the
/// server cannot be reached, or does not show Services (see ApiReading::some_services).
base::Result<void> ReadClusterApi(const kube::Access& access, const ApiReading& reading,
                                  inspect::ClusterReader& reader);

}  // namespace berth::cli
