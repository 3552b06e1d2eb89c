// Bitmaps of ranges as they are stored: Kubernetes' core/v1 RangeAllocation in its envelope, read
// and changed where it stands, because it may be large and changes all the time.
//
//   "k8s\0", runtime.Unknown{v1 RangeAllocation}, in it: 1 metadata (all of it empty), 2 range, 3
//   data; data is written even when it has no bytes
//
// Pure functions, safe from any thread; any bytes may be given. Errors are kInternalError.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::codec {

struct StoredRangeAllocation {
  std::string_view range;  // Both point into the bytes given.
  std::string_view data;
};

/// Of the protobuf form.
base::Result<StoredRangeAllocation> ReadRangeAllocation(std::string_view stored);

/// A new one.
std::string WriteRangeAllocation(std::string_view range, std::string_view data);

/// The same object with other data; whatever else it holds stays. `stored` must be readable.
std::string WithData(std::string_view stored, std::string_view data);

/// One that is stored in either form (kube-apiserver may write JSON too), in protobuf.
base::Result<std::string> RangeAllocationToProto(std::string_view stored);

}  // namespace berth::codec
