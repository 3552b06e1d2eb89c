// What stands around protobuf messages on their way to a client: the parts of an envelope whose
// content is sent piece by piece, and the frames of a watch. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/decode.h"

namespace berth::codec {

/// An envelope (see protobuf.h) up to its content, which has `size` bytes; then come these bytes,
/// and kEnvelopeTail.
std::string EnvelopeHead(const Identity& identity, size_t size);

/// contentEncoding and contentType, both empty.
inline constexpr std::string_view kEnvelopeTail{"\x1a\x00\x22\x00", 4};

/// A message or text as field `number` of another message.
void AppendProtoField(std::string& out, uint32_t number, std::string_view content);

/// How many bytes that is.
size_t ProtoFieldSize(uint32_t number, size_t content_size);

/// One event of a watch: its length in four bytes, the highest first, and a WatchEvent, which has
/// no envelope. `object` is the whole one with its envelope. No object is larger than a length can
/// say.
std::string WatchFrame(std::string_view type, std::string_view object);

}  // namespace berth::codec
