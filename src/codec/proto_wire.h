// The bytes of protobuf. They are read from front to back and written from back to front. So the
// length of a message is known when it is written. For use inside codec.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth::codec {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    uint32_t number = 0;
    WireType type = WireType::kVarint;
    uint64_t varint = 0;       // For kVarint.
    std::string_view content;  // For kBytes.
    std::string_view whole;    // Including the tag.
  };

  /// Reads the next field. Returns false at the end, and if the bytes are
  /// malformed; then Failed() is true.
  bool Next(Field& field);

  bool Failed() const { return failed_; }

 private:
  bool TakeVarint(uint64_t& number);
  bool TakeContent(Field& field);
  bool Fail() {
    failed_ = true;
    return false;
  }

  std::string_view rest_;
  bool failed_ = false;
};

class ProtoWriter {
 public:
  ProtoWriter() : buffer_(1024, '\0'), begin_(buffer_.size()) {}

  size_t Size() const { return buffer_.size() - begin_; }
  std::string Take() const { return buffer_.substr(begin_); }

  void PrependRaw(std::string_view bytes);
  void PrependVarint(uint64_t number);

  void PrependTag(uint32_t number, WireType type) {
    PrependVarint(uint64_t{number} << 3 | static_cast<uint64_t>(type));
  }

  void PrependVarintField(uint32_t number, uint64_t value) {
    PrependVarint(value);
    PrependTag(number, WireType::kVarint);
  }

  void PrependBytesField(uint32_t number, std::string_view content) {
    PrependRaw(content);
    PrependLength(number, content.size());
  }

  /// Writes the header of a message whose content is already written.
  void PrependLength(uint32_t number, size_t size) {
    PrependVarint(size);
    PrependTag(number, WireType::kBytes);
  }

 private:
  char* MakeRoom(size_t bytes);

  std::string buffer_;  // The bytes written are at its end.
  size_t begin_;
};

}  // namespace berth::codec
