// An object that DecodeProto accepts, with unknown fields, is equal after a round trip and can be
// written as JSON. The first byte selects the kind. Input that begins with the magic bytes is read
// as a stored object.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/kinds.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "codec/protobuf.h"
#include "codec/storage.h"
#include "fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace berth;  // NOLINT(google-build-using-namespace)
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.starts_with(codec::kProtobufMagic)) {
    const auto stored = codec::DecodeStored(input);
    if (!stored) return 0;
    const auto again = codec::DecodeStored(codec::EncodeStored(stored->object, *stored->kind));
    fuzz::Require(again.has_value() && again->kind == stored->kind);
    return 0;
  }
  if (input.empty()) return 0;
  const api::Kind& kind = *api::AllKinds()[data[0] % api::AllKinds().size()];
  if (!kind.has_protobuf) return 0;
  const api::Message& message = *kind.message;
  const auto object = codec::DecodeProto(input.substr(1), message);
  if (!object) {
    fuzz::Require(object.error().reason == base::Reason::kBadRequest);
    return 0;
  }
  const std::string bytes = codec::EncodeProto(*object, message);
  const auto again = codec::DecodeProto(bytes, message, {.bytes = SIZE_MAX});
  fuzz::Require(again.has_value() && *again == *object);
  fuzz::Require(codec::EncodeProto(*again, message) == bytes);
  const std::string text = codec::EncodeMessage(*object, message);
  const auto from_json = codec::DecodeJson(text, message, {.limits = {.bytes = SIZE_MAX}});
  fuzz::Require(from_json.has_value() && from_json->problems.empty());
  fuzz::Require(codec::EncodeMessage(from_json->object, message) == text);
  return 0;
}
