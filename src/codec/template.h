// Encoded objects that differ only in some texts, made from one that was encoded as usual: the
// bytes around these texts are copied, which is many times faster than encoding each. Where the
// texts stand is found once, in a sample; the encoders remain the only ones who know the forms.
//
// Immutable; any thread. A sample must contain every placeholder, and none inside another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::codec {

using Placeholders = std::span<const std::string_view>;

/// Text such as JSON. Values must be such that they stand as they are (IsPlain).
class TextTemplate {
 public:
  TextTemplate(std::string_view sample, Placeholders placeholders);

  /// One value for each placeholder, in their order.
  std::string Fill(std::span<const std::string_view> values) const;

  /// Where what stands at `at` in the sample is in a filled text; not for inside of placeholders.
  size_t PositionOf(size_t at, std::span<const std::string_view> values) const;

  /// Where values stand in a filled text, ascending.
  struct Place {
    size_t at = 0;
    size_t size = 0;
    size_t placeholder = 0;  // Which of them it is.
  };
  std::vector<Place> Places(std::span<const std::string_view> values) const;

 private:
  struct Gap {
    size_t at = 0;  // In the sample.
    size_t placeholder = 0;
  };

  std::string sample_;
  std::vector<size_t> sizes_;  // Of the placeholders.
  std::vector<Gap> gaps_;      // Ascending.
};

/// Whether JSON has it as it is, between quotes.
bool IsPlain(std::string_view text);

/// A stored protobuf object. A placeholder is the whole content of a field (of a text, or of a
/// message that is given as its bytes).
class ProtoTemplate {
 public:
  ProtoTemplate(std::string_view sample, Placeholders placeholders);

  std::string Fill(std::span<const std::string_view> values) const;

 private:
  /// From the back of the message to its front, as it is written.
  struct Part {
    enum class Kind : uint8_t { kBytes, kValue, kBegin, kEnd };

    Kind kind = Kind::kBytes;
    std::string bytes = {};  // kBytes
    uint32_t number = 0;     // kValue, kEnd: of the field.
    size_t placeholder = 0;  // kValue
  };

  void Add(std::string_view message, Placeholders placeholders);
  void AddBytes(std::string_view bytes);

  std::vector<Part> parts_;
};

}  // namespace berth::codec
