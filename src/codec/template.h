// Makes encoded objects that differ only in some texts from a sample that was encoded as
// usual. The bytes around these texts are copied, which is many times faster than encoding
// each object. The positions of the texts are found once, in the sample. So only the
// encoders need to know the formats.
//
// Immutable; safe from any thread. A sample must contain every placeholder,
// and none inside another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::codec {

using Placeholders = std::span<const std::string_view>;

/// A template of text such as JSON. Values must not need escapes (see IsPlain).
class TextTemplate {
 public:
  TextTemplate(std::string_view sample, Placeholders placeholders);

  /// Returns the sample with one value for each placeholder, in their order.
  std::string Fill(std::span<const std::string_view> values) const;

  /// Returns the position in a filled text of the byte that is at `at` in the sample. `at`
  /// must not be inside a placeholder.
  size_t PositionOf(size_t at, std::span<const std::string_view> values) const;

  /// The position of a value in a filled text.
  struct ValueSpan {
    size_t at = 0;
    size_t size = 0;
    size_t placeholder = 0;  // Index of the placeholder.
  };
  /// Returns the positions of all values in ascending order.
  std::vector<ValueSpan> ValueSpans(std::span<const std::string_view> values) const;

 private:
  struct Gap {
    size_t at = 0;  // Position in the sample.
    size_t placeholder = 0;
  };

  std::string sample_;
  std::vector<size_t> sizes_;  // Sizes of the placeholders.
  std::vector<Gap> gaps_;      // In ascending order.
};

/// Returns whether a JSON string can contain `text` without escapes.
bool IsPlain(std::string_view text);

/// A template of a stored protobuf object. A placeholder is the whole content of a field: of a
/// text, or of a message that is given as its bytes.
class ProtoTemplate {
 public:
  ProtoTemplate(std::string_view sample, Placeholders placeholders);

  std::string Fill(std::span<const std::string_view> values) const;

 private:
  /// A piece of the message. The pieces are in the order in which they are
  /// written, from back to front.
  struct Part {
    enum class Kind : uint8_t { kBytes, kValue, kBegin, kEnd };

    Kind kind = Kind::kBytes;
    std::string bytes = {};  // For kBytes.
    uint32_t number = 0;     // Field number, for kValue and kEnd.
    size_t placeholder = 0;  // For kValue.
  };

  void Add(std::string_view message, Placeholders placeholders);
  void AddBytes(std::string_view bytes);

  std::vector<Part> parts_;
};

}  // namespace berth::codec
