#include "codec/go_syntax.h"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "base/ascii.h"
#include "base/go_text.h"

namespace berth::codec {
namespace {

using base::IsDigit;

constexpr size_t kGoDeepest = 10'000;

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::string QuotedCharacter(char c) {
  if (c == '\'') return "'\\''";
  if (c == '"') return "'\"'";
  // Go looks at single bytes. A byte that is not ASCII stands for the character with that number.
  const auto byte = static_cast<unsigned char>(c);
  std::string character;
  if (byte >= 0x80) character += static_cast<char>(0xC0 | byte >> 6);
  character += byte < 0x80 ? c : static_cast<char>(0x80 | (byte & 0x3F));
  const std::string quoted = base::GoQuoted(character);
  return "'" + quoted.substr(1, quoted.size() - 2) + "'";
}

// Scans a text as long as it is JSON. Each Take function moves past what it names,
// or records where Go would stop.
class Checker {
 public:
  explicit Checker(std::string_view text) : text_(text) {}

  std::optional<std::string> Run() {
    if (TakeValues()) {
      SkipSpace();
      if (at_ < text_.size()) Stop("after top-level value");
    }
    return fault_;
  }

 private:
  // Takes any value with its contents.
  bool TakeValues() {
    while (true) {
      bool opened = false;
      if (!TakeValueStart(opened)) return false;
      if (opened) continue;
      if (!TakeAfterValue()) return false;
      if (open_.empty()) return true;
    }
  }

  // Takes a scalar, or the beginning of an array or object. `opened` is set if a value must follow.
  bool TakeValueStart(bool& opened) {
    SkipSpace();
    if (at_ == text_.size()) return End();
    const char c = text_[at_];
    if (c == '{' || c == '[') return TakeOpening(c, opened);
    if (c == '"') return TakeString();
    if (c == '-' || IsDigit(c)) return TakeNumber();
    if (c == 't') return TakeWord("true");
    if (c == 'f') return TakeWord("false");
    if (c == 'n') return TakeWord("null");
    return Stop("looking for beginning of value");
  }

  bool TakeOpening(char bracket, bool& opened) {
    if (open_.size() == kGoDeepest) {
      fault_ = "exceeded max depth";
      return false;
    }
    ++at_;
    SkipSpace();
    const char closing = bracket == '{' ? '}' : ']';
    if (at_ < text_.size() && text_[at_] == closing) {
      ++at_;
      return true;
    }
    open_.push_back(bracket);
    opened = true;
    return bracket == '[' || TakeKey();
  }

  bool TakeKey() {
    SkipSpace();
    if (at_ == text_.size()) return End();
    if (text_[at_] != '"') return Stop("looking for beginning of object key string");
    if (!TakeString()) return false;
    SkipSpace();
    if (at_ == text_.size()) return End();
    if (text_[at_] != ':') return Stop("after object key");
    ++at_;
    return true;
  }

  // Closes the arrays and objects that end after a value, up to where the next value begins.
  bool TakeAfterValue() {
    while (!open_.empty()) {
      SkipSpace();
      if (at_ == text_.size()) return End();
      const bool in_object = open_.back() == '{';
      const char c = text_[at_];
      if (c == ',') {
        ++at_;
        return !in_object || TakeKey();
      }
      if (c != (in_object ? '}' : ']')) {
        return Stop(in_object ? "after object key:value pair" : "after array element");
      }
      ++at_;
      open_.pop_back();
    }
    return true;
  }

  bool TakeString() {
    for (++at_; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return Stop("in string literal");
      if (c == '\\' && !TakeEscape()) return false;
    }
    return End();
  }

  // Takes an escape, and leaves `at_` on its last character.
  bool TakeEscape() {
    if (++at_ == text_.size()) return End();
    const char c = text_[at_];
    if (c != 'u') {
      static constexpr std::string_view kEscapes = "bfnrt\\/\"";
      return kEscapes.find(c) != std::string_view::npos || Stop("in string escape code");
    }
    for (int i = 0; i < 4; ++i) {
      if (++at_ == text_.size()) return End();
      if (!IsHex(text_[at_])) return Stop("in \\u hexadecimal character escape");
    }
    return true;
  }

  bool TakeNumber() {
    if (text_[at_] == '-') {
      ++at_;
      if (at_ < text_.size() && !IsDigit(text_[at_])) return Stop("in numeric literal");
    }
    if (at_ == text_.size()) return End();
    if (text_[at_] == '0') {
      ++at_;
    } else {
      SkipDigits();
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      if (!TakeDigits("after decimal point in numeric literal")) return false;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      return TakeDigits("in exponent of numeric literal");
    }
    return true;
  }

  bool TakeDigits(std::string_view where) {
    if (at_ == text_.size()) return End();
    if (!IsDigit(text_[at_])) return Stop(where);
    SkipDigits();
    return true;
  }

  bool TakeWord(std::string_view word) {
    for (size_t i = 0; i < word.size(); ++i, ++at_) {
      if (at_ == text_.size()) return End();
      if (text_[at_] != word[i]) {
        return Stop(fmt::format("in literal {} (expecting '{}')", word, word[i]));
      }
    }
    return true;
  }

  void SkipDigits() {
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
  }

  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }

  bool End() {
    fault_ = "unexpected end of JSON input";
    return false;
  }

  bool Stop(std::string_view where) {
    fault_ = fmt::format("invalid character {} {}", QuotedCharacter(text_[at_]), where);
    return false;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<char> open_;
  std::optional<std::string> fault_;
};

}  // namespace

std::optional<std::string> GoSyntaxError(std::string_view text) { return Checker(text).Run(); }

}  // namespace berth::codec
