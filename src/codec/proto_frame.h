// Envelopes whose content is sent to a client piece by piece, and the frames of a watch, in
// protobuf. Pure functions, safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "codec/decode.h"

namespace berth::codec {

/// Returns an envelope (see protobuf.h) up to its content of `size` bytes. The
/// content and kEnvelopeTail follow.
std::string EnvelopeHead(const Identity& identity, size_t size);

/// contentEncoding and contentType, both empty.
inline constexpr std::string_view kEnvelopeTail{"\x1a\x00\x22\x00", 4};

/// Appends a message or text as field `number` of another message.
void AppendProtoField(std::string& out, uint32_t number, std::string_view content);

/// Returns the number of bytes that AppendProtoField appends.
size_t ProtoFieldSize(uint32_t number, size_t content_size);

/// Returns one event of a watch: its length in four bytes, highest first, and a WatchEvent,
/// which has no envelope. `object` includes its own envelope. Every object is small enough
/// for such a length.
std::string WatchFrame(std::string_view type, std::string_view object);

}  // namespace berth::codec
