#include "codec/proto_wire.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace berth::codec {

bool ProtoReader::TakeVarint(uint64_t& number) {
  number = 0;
  for (size_t i = 0; i < 10 && i < rest_.size(); ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    if (i == 9 && byte > 1) break;  // More than 64 bits.
    number |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return Fail();
}

bool ProtoReader::Next(Field& field) {
  if (rest_.empty() || failed_) return false;
  const std::string_view before = rest_;
  uint64_t tag = 0;
  if (!TakeVarint(tag)) return false;
  const uint64_t number = tag >> 3;
  static constexpr uint64_t kMostNumber = (uint64_t{1} << 29) - 1;
  if (number == 0 || number > kMostNumber) return Fail();
  field.number = static_cast<uint32_t>(number);
  field.type = static_cast<WireType>(tag & 7);
  if (!TakeContent(field)) return false;
  field.whole = before.substr(0, before.size() - rest_.size());
  return true;
}

// Groups, which Kubernetes does not use, are malformed.
bool ProtoReader::TakeContent(Field& field) {
  uint64_t size = 0;
  switch (field.type) {
    case WireType::kVarint:
      return TakeVarint(field.varint);
    case WireType::kFixed64:
      size = 8;
      break;
    case WireType::kFixed32:
      size = 4;
      break;
    case WireType::kBytes:
      if (!TakeVarint(size)) return false;
      break;
    default:
      return Fail();
  }
  if (size > rest_.size()) return Fail();
  field.content = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

char* ProtoWriter::MakeRoom(size_t bytes) {
  if (bytes > begin_) {
    std::string larger(std::max(buffer_.size() * 2, Size() + bytes), '\0');
    const size_t size = Size();
    std::memcpy(larger.data() + larger.size() - size, buffer_.data() + begin_, size);
    buffer_.swap(larger);
    begin_ = buffer_.size() - size;
  }
  begin_ -= bytes;
  return buffer_.data() + begin_;
}

void ProtoWriter::PrependRaw(std::string_view bytes) {
  if (bytes.empty()) return;
  std::memcpy(MakeRoom(bytes.size()), bytes.data(), bytes.size());
}

void ProtoWriter::PrependVarint(uint64_t number) {
  if (number < 0x80) {
    *MakeRoom(1) = static_cast<char>(number);
    return;
  }
  std::array<char, 10> bytes;
  size_t size = 0;
  for (; number >= 0x80; number >>= 7) bytes[size++] = static_cast<char>(number | 0x80);
  bytes[size++] = static_cast<char>(number);
  std::memcpy(MakeRoom(size), bytes.data(), size);
}

}  // namespace berth::codec
