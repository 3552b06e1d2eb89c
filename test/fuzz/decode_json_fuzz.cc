// An object that DecodeJson accepts is canonical: it is equal after a round trip through every
// format, and its JSON has no problems to report. A refusal has a reason. The first byte selects
// the kind; some kinds have no protobuf.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/protobuf.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth;  // NOLINT(google-build-using-namespace)
  if (size == 0) return 0;
  const api::Kind& kind = *api::AllKinds()[data[0] % api::AllKinds().size()];
  const api::Message& message = *kind.message;
  const codec::Identity identity{.api_version = kind.api_version, .kind = kind.kind};
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);

  const auto decoded = codec::DecodeJson(body, message, {.limits = {}, .expected = identity});
  if (!decoded) {
    fuzz::Require(decoded.error().reason == base::Reason::kBadRequest);
    fuzz::Require(decoded.error().message.size() > 20);
    return 0;
  }
  fuzz::Require(decoded->problems.size() <= codec::kMostProblems);
  const codec::WireJson wire = codec::EncodeJson(decoded->object, message, identity);
  const auto from_wire = codec::DecodeWire(wire.text, message);
  fuzz::Require(from_wire.has_value());
  const std::string text = codec::EncodeMessage(decoded->object, message, identity);
  const auto again = codec::DecodeJson(text, message, {.limits = {.bytes = SIZE_MAX}});
  fuzz::Require(again.has_value() && again->problems.empty());
  // An empty list of managed fields is accepted but never written.
  fuzz::Require(codec::EncodeMessage(again->object, message, identity) == text);
  if (!kind.has_protobuf) return 0;
  const auto from_proto = codec::DecodeProto(codec::EncodeProto(again->object, message), message);
  fuzz::Require(from_proto.has_value() && *from_proto == again->object);
  return 0;
}
