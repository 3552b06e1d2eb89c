#include "codec/proto_frame.h"

#include "codec/proto_wire.h"
#include "codec/protobuf.h"

namespace berth::codec {
namespace {

void AppendVarint(std::string& out, uint64_t number) {
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(number | 0x80);
  out += static_cast<char>(number);
}

void AppendLength(std::string& out, uint32_t number, size_t size) {
  AppendVarint(out, uint64_t{number} << 3 | static_cast<uint64_t>(WireType::kBytes));
  AppendVarint(out, size);
}

size_t VarintSize(uint64_t number) {
  size_t size = 1;
  for (; number >= 0x80; number >>= 7) ++size;
  return size;
}

}  // namespace

std::string EnvelopeHead(const Identity& identity, size_t size) {
  std::string type;
  AppendProtoField(type, 1, identity.api_version);
  AppendProtoField(type, 2, identity.kind);
  std::string head(kProtobufMagic);
  AppendProtoField(head, 1, type);
  AppendLength(head, 2, size);
  return head;
}

void AppendProtoField(std::string& out, uint32_t number, std::string_view content) {
  AppendLength(out, number, content.size());
  out += content;
}

size_t ProtoFieldSize(uint32_t number, size_t content_size) {
  return VarintSize(uint64_t{number} << 3) + VarintSize(content_size) + content_size;
}

std::string WatchFrame(std::string_view type, std::string_view object) {
  const size_t extension = ProtoFieldSize(1, object.size());
  const size_t size = ProtoFieldSize(1, type.size()) + ProtoFieldSize(2, extension);
  std::string frame;
  frame.reserve(4 + size);
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(size >> shift);
  AppendProtoField(frame, 1, type);
  AppendLength(frame, 2, extension);
  AppendProtoField(frame, 1, object);
  return frame;
}

}  // namespace berth::codec
