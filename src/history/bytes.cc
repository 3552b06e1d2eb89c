#include "history/bytes.h"

namespace berth::history {
namespace {

constexpr unsigned kBitsPerByte = 7;
constexpr uint8_t kMore = 0x80;

}  // namespace

void ByteWriter::Unsigned(base::U128 number) {
  for (; number >= kMore; number >>= kBitsPerByte) {
    Byte(static_cast<uint8_t>(number & (kMore - 1)) | kMore);
  }
  Byte(static_cast<uint8_t>(number));
}

void ByteWriter::Signed(int64_t number) {
  const auto bits = static_cast<uint64_t>(number);
  Unsigned((bits << 1) ^ (number < 0 ? ~uint64_t{0} : 0));
}

void ByteWriter::Text(std::string_view text) {
  Unsigned(text.size());
  Raw(text);
}

void ByteReader::Fail() {
  failed_ = true;
  rest_ = {};
}

uint8_t ByteReader::Byte() {
  if (rest_.empty()) {
    Fail();
    return 0;
  }
  const auto byte = static_cast<uint8_t>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

base::U128 ByteReader::Unsigned() {
  base::U128 number = 0;
  for (unsigned shift = 0;; shift += kBitsPerByte) {
    const uint8_t byte = Byte();
    const base::U128 bits = byte & (kMore - 1);
    if (shift >= 128 || (bits << shift) >> shift != bits) {
      Fail();
      return 0;
    }
    number |= bits << shift;
    if ((byte & kMore) == 0) return failed_ ? 0 : number;
  }
}

uint64_t ByteReader::Unsigned64() {
  const base::U128 number = Unsigned();
  if (number > UINT64_MAX) {
    Fail();
    return 0;
  }
  return static_cast<uint64_t>(number);
}

int64_t ByteReader::Signed() {
  const uint64_t bits = Unsigned64();
  return static_cast<int64_t>((bits >> 1) ^ ((bits & 1) != 0 ? ~uint64_t{0} : 0));
}

std::string_view ByteReader::Text(size_t max) {
  const uint64_t size = Unsigned64();
  if (size > max) {
    Fail();
    return {};
  }
  return Raw(size);
}

std::string_view ByteReader::Raw(size_t size) {
  if (size > rest_.size()) {
    Fail();
    return {};
  }
  const std::string_view bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return bytes;
}

}  // namespace berth::history
