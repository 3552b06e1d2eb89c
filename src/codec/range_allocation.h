// Stored bitmaps of ranges: Kubernetes' core/v1 RangeAllocation in its envelope. They are read and
// changed in place, because they may be large and change all the time.
//
//   "k8s\0", runtime.Unknown{v1 RangeAllocation} with the fields 1 metadata (all of it empty),
//   2 range, 3 data; data is written even if it has no bytes
//
// Pure functions, safe from any thread, for any bytes. Errors are kInternalError.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::codec {

struct StoredRangeAllocation {
  std::string_view range;  // Both point into the input.
  std::string_view data;
};

/// Reads the protobuf form.
base::Result<StoredRangeAllocation> ReadRangeAllocation(std::string_view stored);

/// Returns a new object.
std::string WriteRangeAllocation(std::string_view range, std::string_view data);

/// Returns the same object with other data. All other fields stay. `stored` must be readable.
std::string WithData(std::string_view stored, std::string_view data);

/// Converts either stored form to protobuf. kube-apiserver may write JSON too.
base::Result<std::string> RangeAllocationToProto(std::string_view stored);

}  // namespace berth::codec
