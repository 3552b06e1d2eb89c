#include "rules/service_text.h"

#include <string.h>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace berth::rules {
namespace {

constexpr std::string_view kSpecMember = R"("spec":{)";

/// Walks over JSON from front to back. After anything unexpected it is broken, and stays where it
/// is.
class TextWalker {
 public:
  explicit TextWalker(std::string_view text) : rest_(text) {}

  bool IsBroken() const { return broken_; }

  /// Reads a string without escapes. A string with escapes breaks the walk.
  std::string_view String() {
    if (!Eat('"')) return {};
    const size_t end = EndOfPlain(0);
    if (end == rest_.size() || rest_[end] == '\\') {
      broken_ = true;
      return {};
    }
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  int64_t Integer() {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (error != std::errc()) broken_ = true;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return number;
  }

  void SkipValue() {
    size_t depth = 0;
    do {
      if (rest_.empty()) {
        broken_ = true;
        return;
      }
      switch (rest_.front()) {
        case '"':
          SkipString();
          break;
        case '{':
        case '[':
          ++depth;
          rest_.remove_prefix(1);
          break;
        case '}':
        case ']':
          if (depth == 0) {
            broken_ = true;
            return;
          }
          --depth;
          rest_.remove_prefix(1);
          break;
        default:
          SkipScalar();
      }
    } while (depth > 0 && !broken_);
  }

  /// Calls `visit` with the key of each member of an object. It must read the member's value.
  template <typename Visit>
  void EachMember(const Visit& visit) {
    Each('{', '}', [&] {
      const std::string_view key = String();
      if (Eat(':')) visit(key);
    });
  }

  /// Calls `visit` for each element of an array. It must read the element.
  template <typename Visit>
  void EachElement(const Visit& visit) {
    Each('[', ']', visit);
  }

 private:
  bool Eat(char expected) {
    if (broken_ || rest_.empty() || rest_.front() != expected) {
      broken_ = true;
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  template <typename Visit>
  void Each(char open, char close, const Visit& visit) {
    if (!Eat(open)) return;
    if (rest_.starts_with(close)) return rest_.remove_prefix(1);
    while (!broken_) {
      visit();
      if (!broken_ && rest_.starts_with(close)) return rest_.remove_prefix(1);
      Eat(',');
    }
  }

  /// Returns where the next quote or backslash is, from a position on. find_first_of is slow.
  size_t EndOfPlain(size_t at) const {
    while (at < rest_.size() && rest_[at] != '"' && rest_[at] != '\\') ++at;
    return at;
  }

  void SkipString() {
    size_t at = EndOfPlain(1);
    while (at < rest_.size() && rest_[at] == '\\') at = EndOfPlain(at + 2);
    if (at >= rest_.size()) {
      broken_ = true;
    } else {
      rest_.remove_prefix(at + 1);
    }
  }

  /// Skips a number, a literal, or the signs between values.
  void SkipScalar() {
    size_t at = 1;
    while (at < rest_.size() && !IsStructure(rest_[at])) ++at;
    rest_.remove_prefix(at);
  }

  static bool IsStructure(char c) {
    return c == '"' || c == ',' || c == '{' || c == '}' || c == '[' || c == ']';
  }

  std::string_view rest_;
  bool broken_ = false;
};

}  // namespace

std::string_view TextFromSpec(std::string_view json) {
  // The C library's search is several times faster than that of std::string_view.
  const void* found = memmem(json.data(), json.size(), kSpecMember.data(), kSpecMember.size());
  if (found == nullptr) return {};
  return json.substr(static_cast<size_t>(static_cast<const char*>(found) - json.data()));
}

std::optional<Holdings> HoldingsInText(std::string_view json) {
  std::string_view text = TextFromSpec(json);
  if (text.empty()) return std::nullopt;
  text.remove_prefix(kSpecMember.size() - 1);
  HoldingFields fields;
  TextWalker walker(text);
  walker.EachMember([&](std::string_view member) {
    if (member == "type") {
      fields.type = walker.String();
    } else if (member == "clusterIP") {
      fields.cluster_ip = walker.String();
    } else if (member == "externalTrafficPolicy") {
      fields.external_traffic_policy = walker.String();
    } else if (member == "healthCheckNodePort") {
      fields.health_check_node_port = walker.Integer();
    } else if (member == "clusterIPs") {
      walker.EachElement([&] { fields.cluster_ips.push_back(walker.String()); });
    } else if (member == "ports") {
      walker.EachElement([&] {
        walker.EachMember([&](std::string_view part) {
          if (part == "nodePort") {
            fields.node_ports.push_back(walker.Integer());
          } else {
            walker.SkipValue();
          }
        });
      });
    } else {
      walker.SkipValue();
    }
  });
  if (walker.IsBroken()) return std::nullopt;
  return HoldingsOf(fields);
}

}  // namespace berth::rules
