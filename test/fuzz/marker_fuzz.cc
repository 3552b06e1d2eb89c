// Any marker text is either refused or parsed, and a parsed marker is equal after a round trip.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "store/etcd/marker.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::store::etcd::MarkerText;
  using berth::store::etcd::ParseMarker;
  const auto marker = ParseMarker({reinterpret_cast<const char*>(data), size});
  if (!marker) {
    fuzz::Require(!marker.error().message.empty());
    return 0;
  }
  const auto again = ParseMarker(MarkerText(*marker));
  fuzz::Require(again && *again == *marker);
  return 0;
}
