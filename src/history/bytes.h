// Numbers and texts as bytes: variable-length integers, small ones in one byte. The reader accepts
// any bytes, and fails at the first one that makes no sense. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/uint128.h"

namespace berth::history {

class ByteWriter {
 public:
  explicit ByteWriter(std::string& out) : out_(out) {}

  void Byte(uint8_t byte) { out_ += static_cast<char>(byte); }
  void Unsigned(base::U128 number);
  /// Writes a number of either sign. One that is close to 0 is short.
  void Signed(int64_t number);
  void Text(std::string_view text);
  void Raw(std::string_view bytes) { out_ += bytes; }

 private:
  std::string& out_;
};

/// Returns zeros and empty texts once it has failed.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool failed() const { return failed_; }
  bool empty() const { return rest_.empty(); }

  uint8_t Byte();
  base::U128 Unsigned();
  /// Fails if the number does not fit.
  uint64_t Unsigned64();
  int64_t Signed();
  /// Fails if the text is longer than `max`.
  std::string_view Text(size_t max);
  std::string_view Raw(size_t size);
  void Fail();

 private:
  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace berth::history
