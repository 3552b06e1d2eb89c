#include <cstddef>
#include <cstdint>

#include "codec/resource_version.h"

namespace berth::codec {
namespace {

constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kVersion = "resourceVersion";

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/// The character that begins `raw`, taken off it; -1 for one that is not plain ASCII.
int NextCharacter(std::string_view& raw) {
  const char first = raw.front();
  raw.remove_prefix(1);
  if (first != '\\') return static_cast<unsigned char>(first);
  if (!raw.starts_with('u') || raw.size() < 5) return -1;
  int code = 0;
  for (const char c : raw.substr(1, 4)) {
    const int digit = HexDigit(c);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  raw.remove_prefix(5);
  return code;
}

/// Whether a key reads `name`, which is plain letters, however it is written.
bool IsKey(std::string_view raw, std::string_view name) {
  if (raw.size() == name.size()) return raw == name;
  if (raw.size() < name.size() || raw.find('\\') == std::string_view::npos) return false;
  for (const char wanted : name) {
    if (raw.empty() || NextCharacter(raw) != wanted) return false;
  }
  return raw.empty();
}

/// Goes over JSON text no further than it needs to; what it goes over is held to be JSON as far as
/// strings and brackets go, and not looked at more closely.
class Scanner {
 public:
  explicit Scanner(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  size_t at() const { return at_; }

  /// The next character that is not white space; NUL at the end.
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

  /// What is between the quotes of the string that comes next.
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
    size_t at = at_;  // A local: the compiler keeps it in a register.
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

/// What there is of a member in the object that comes next.
struct Search {
  enum class Outcome : uint8_t { kFound, kMissing, kNoObject };

  Outcome outcome = Outcome::kNoObject;
  size_t first = 0;    // Behind the object's opening brace.
  bool empty = false;  // kMissing: the object has no members.
};

/// When it finds the member, `scanner` stands before its value.
Search FindMember(Scanner& scanner, std::string_view name) {
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

/// Where the field's content is, or where what is missing around it belongs.
struct Place {
  size_t at = 0;
  size_t size = 0;
  std::string_view before = {};  // Comes with the content; empty when the field is there.
  std::string_view after = {};
};

std::optional<Place> FindPlace(std::string_view value) {
  using enum Search::Outcome;
  Scanner scanner(value);
  const Search metadata = FindMember(scanner, kMetadata);
  if (metadata.outcome == kNoObject) return std::nullopt;
  if (metadata.outcome == kMissing) {
    return Place{.at = metadata.first,
                 .before = R"("metadata":{"resourceVersion":")",
                 .after = metadata.empty ? R"("})" : R"("},)"};
  }
  const Search version = FindMember(scanner, kVersion);
  if (version.outcome == kNoObject) return std::nullopt;
  if (version.outcome == kMissing) {
    return Place{.at = version.first,
                 .before = R"("resourceVersion":")",
                 .after = version.empty ? R"(")" : R"(",)"};
  }
  const auto content = scanner.TakeString();
  if (!content) return std::nullopt;
  return Place{.at = static_cast<size_t>(content->data() - value.data()), .size = content->size()};
}

}  // namespace

std::optional<std::string_view> JsonResourceVersion(std::string_view value) {
  const auto place = FindPlace(value);
  if (!place) return std::nullopt;
  return value.substr(place->at, place->size);
}

bool SetJsonResourceVersion(std::string& value, std::string_view version) {
  const auto place = FindPlace(value);
  if (!place) return false;
  if (place->before.empty()) {
    value.replace(place->at, place->size, version);
    return true;
  }
  std::string added(place->before);
  added += version;
  added += place->after;
  value.insert(place->at, added);
  return true;
}

}  // namespace berth::codec
