#include <cstddef>
#include <cstdint>

#include "base/ascii.h"
#include "codec/resource_version.h"

namespace berth::codec {
namespace {

constexpr std::string_view kMetadataKey = "metadata";
constexpr std::string_view kVersionKey = "resourceVersion";

/// Removes the first character of `raw` and returns it, or -1 if it is not plain ASCII.
int NextCharacter(std::string_view& raw) {
  const char first = raw.front();
  raw.remove_prefix(1);
  if (first != '\\') return static_cast<unsigned char>(first);
  if (!raw.starts_with('u') || raw.size() < 5) return -1;
  int code = 0;
  for (const char c : raw.substr(1, 4)) {
    const int digit = base::HexDigit(c);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  raw.remove_prefix(5);
  return code;
}

/// Returns whether a key means `name`, which consists of letters, even if it
/// is written with escapes.
bool IsKey(std::string_view raw, std::string_view name) {
  if (raw.size() == name.size()) return raw == name;
  if (raw.size() < name.size() || raw.find('\\') == std::string_view::npos) return false;
  for (const char wanted : name) {
    if (raw.empty() || NextCharacter(raw) != wanted) return false;
  }
  return raw.empty();
}

/// Scans JSON text no further than needed. It trusts the strings and brackets that it passes, and
/// does not look at the rest.
class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  size_t at() const { return at_; }

  /// Returns the next character that is not white space, or NUL at the end.
  char Peek() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return c;
      ++at_;
    }
    return '\0';
  }

  bool Take(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }

  /// Returns the text between the quotes of the next string.
  std::optional<std::string_view> TakeString() {
    if (!Take('"')) return std::nullopt;
    const size_t begin = at_;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') return text_.substr(begin, at_ - 1 - begin);
      if (c == '\\') ++at_;
    }
    return std::nullopt;
  }

  bool SkipValue() {
    const char first = Peek();
    if (first == '"') return TakeString().has_value();
    if (first == '{' || first == '[') return SkipNested();
    const size_t begin = at_;
    while (at_ < text_.size() && !EndsScalar(text_[at_])) ++at_;
    return at_ > begin;
  }

 private:
  static bool EndsScalar(char c) {
    return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\t' || c == '\r';
  }

  bool SkipNested() {
    const std::string_view text = text_;
    size_t at = at_;  // A local variable, so that the compiler keeps it in a register.
    for (size_t depth = 0; at < text.size();) {
      const char c = text[at++];
      if (c == '"') {
        while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
        ++at;
      } else if (c == '{' || c == '[') {
        ++depth;
      } else if ((c == '}' || c == ']') && --depth == 0) {
        at_ = at;
        return true;
      }
    }
    return false;
  }

  std::string_view text_;
  size_t at_;
};

/// The result of a search for a member in the next object.
struct Search {
  enum class Outcome : uint8_t { kFound, kMissing, kNoObject };

  Outcome outcome = Outcome::kNoObject;
  size_t first = 0;    // After the object's opening brace.
  bool empty = false;  // For kMissing: the object has no members.
};

/// Searches for a member. If it is found, `scanner` is at its value.
Search FindMember(JsonScanner& scanner, std::string_view name) {
  Search search;
  if (!scanner.Take('{')) return search;
  search.first = scanner.at();
  if (scanner.Peek() == '}') {
    search.outcome = Search::Outcome::kMissing;
    search.empty = true;
    return search;
  }
  do {
    const auto key = scanner.TakeString();
    if (!key || !scanner.Take(':')) return search;
    if (IsKey(*key, name)) {
      search.outcome = Search::Outcome::kFound;
      return search;
    }
    if (!scanner.SkipValue()) return search;
  } while (scanner.Take(','));
  if (scanner.Take('}')) search.outcome = Search::Outcome::kMissing;
  return search;
}

/// How to write the field: `before`, its content and `after` replace the `size` bytes at `at`.
struct Splice {
  size_t at = 0;
  size_t size = 0;
  std::string_view before = {};  // Empty if the field exists; then `size` is that of its content.
  std::string_view after = {};
};

std::optional<Splice> FindSplice(std::string_view value) {
  using enum Search::Outcome;
  JsonScanner scanner(value);
  const Search metadata = FindMember(scanner, kMetadataKey);
  if (metadata.outcome == kNoObject) return std::nullopt;
  if (metadata.outcome == kMissing) {
    return Splice{.at = metadata.first,
                  .before = R"("metadata":{"resourceVersion":")",
                  .after = metadata.empty ? R"("})" : R"("},)"};
  }
  const Search version = FindMember(scanner, kVersionKey);
  if (version.outcome == kNoObject) return std::nullopt;
  if (version.outcome == kMissing) {
    return Splice{.at = version.first,
                  .before = R"("resourceVersion":")",
                  .after = version.empty ? R"(")" : R"(",)"};
  }
  const auto content = scanner.TakeString();
  if (!content) return std::nullopt;
  return Splice{.at = static_cast<size_t>(content->data() - value.data()), .size = content->size()};
}

}  // namespace

std::optional<std::string_view> JsonResourceVersion(std::string_view value) {
  const auto splice = FindSplice(value);
  if (!splice) return std::nullopt;
  return value.substr(splice->at, splice->size);
}

bool SetJsonResourceVersion(std::string& value, std::string_view version) {
  const auto splice = FindSplice(value);
  if (!splice) return false;
  if (splice->before.empty()) {
    value.replace(splice->at, splice->size, version);
    return true;
  }
  std::string added(splice->before);
  added += version;
  added += splice->after;
  value.insert(splice->at, added);
  return true;
}

}  // namespace berth::codec
