#include "state/wire_bitmap.h"

#include <utility>

#include "api/kinds.h"
#include "codec/encode.h"
#include "codec/range_allocation.h"
#include "codec/value.h"

namespace berth::state {

base::Result<WireText> BitmapToWire(std::string_view stored) {
  auto proto = codec::RangeAllocationToProto(stored);
  if (!proto) return tl::unexpected(std::move(proto.error()));
  const api::Kind& kind = api::kRangeAllocationKind;
  const codec::Value object = codec::Object{{"metadata", codec::Object{}},
                                            {"range", codec::ReadRangeAllocation(*proto)->range}};
  codec::WireJson wire = codec::EncodeJson(object, *kind.message,
                                           {.api_version = kind.api_version, .kind = kind.kind});
  return WireText{.text = std::move(wire.text),
                  .metadata_at = wire.metadata_at,
                  .version_at = wire.version_at,
                  .hidden = *std::move(proto)};
}

}  // namespace berth::state
