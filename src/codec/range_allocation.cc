#include "codec/range_allocation.h"

#include <utility>

#include "base/base64.h"
#include "codec/json.h"
#include "codec/proto_frame.h"
#include "codec/proto_wire.h"
#include "codec/protobuf.h"
#include "codec/read.h"

namespace berth::codec {
namespace {

constexpr std::string_view kApiVersion = "v1";
constexpr std::string_view kKind = "RangeAllocation";
constexpr uint32_t kMetadata = 1;
constexpr uint32_t kRange = 2;
constexpr uint32_t kData = 3;

/// An ObjectMeta in which nothing is set, as Kubernetes writes it.
constexpr std::string_view kEmptyMetadata{"\x0a\0\x12\0\x1a\0\x22\0\x2a\0\x32\0\x38\0\x42\0", 16};

tl::unexpected<base::Error> Unreadable(const std::string& why) {
  return base::Fail(base::Reason::kInternalError, "a stored bitmap cannot be read: " + why);
}

bool IsBytes(const ProtoReader::Field& field, uint32_t number) {
  return field.number == number && field.type == WireType::kBytes;
}

base::Result<std::string> FromJson(std::string_view stored) {
  const auto document = ParseJson(stored, {.bytes = SIZE_MAX});
  if (!document) return Unreadable(document.error().message);
  if (StringAt(*document, "apiVersion") != kApiVersion || StringAt(*document, "kind") != kKind) {
    return Unreadable("it holds an object of another kind");
  }
  const auto data = base::FromBase64(StringAt(*document, "data"));
  if (!data) return Unreadable("its data is not base64");
  return WriteRangeAllocation(StringAt(*document, "range"), *data);
}

}  // namespace

base::Result<StoredRangeAllocation> ReadRangeAllocation(std::string_view stored) {
  const auto envelope = DecodeEnvelope(stored);
  if (!envelope) return Unreadable(envelope.error().message);
  if (envelope->api_version != kApiVersion || envelope->kind != kKind) {
    return Unreadable("it holds an object of another kind");
  }
  StoredRangeAllocation read;
  ProtoReader reader(envelope->raw);
  for (ProtoReader::Field field; reader.Next(field);) {
    if (IsBytes(field, kRange)) read.range = field.content;
    if (IsBytes(field, kData)) read.data = field.content;
  }
  if (reader.Failed()) return Unreadable("its protobuf is broken");
  return read;
}

std::string WriteRangeAllocation(std::string_view range, std::string_view data) {
  std::string raw;
  AppendProtoField(raw, kMetadata, kEmptyMetadata);
  AppendProtoField(raw, kRange, range);
  AppendProtoField(raw, kData, data);
  return WrapEnvelope(kApiVersion, kKind, raw);
}

std::string WithData(std::string_view stored, std::string_view data) {
  const auto envelope = DecodeEnvelope(stored);
  std::string before;
  std::string behind;
  ProtoReader reader(envelope->raw);
  for (ProtoReader::Field field; reader.Next(field);) {
    if (field.number < kData) before += field.whole;
    if (field.number > kData) behind += field.whole;
  }
  AppendProtoField(before, kData, data);
  return WrapEnvelope(envelope->api_version, envelope->kind, before + behind);
}

base::Result<std::string> RangeAllocationToProto(std::string_view stored) {
  if (!stored.starts_with(kProtobufMagic)) return FromJson(stored);
  return ReadRangeAllocation(stored).map(
      [stored](const StoredRangeAllocation&) { return std::string(stored); });
}

}  // namespace berth::codec
