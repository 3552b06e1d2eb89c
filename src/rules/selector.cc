#include "rules/selector.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "codec/read.h"
#include "rules/field_error.h"
#include "rules/names.h"

namespace berth::rules {
namespace {

using base::Fail;
using base::Reason;
using base::Result;

enum class TokenKind : uint8_t {
  kEnd,
  kOpen,
  kClose,
  kComma,
  kNot,
  kEquals,
  kDoubleEquals,
  kNotEquals,
  kGreater,
  kLess,
  kIn,
  kNotIn,
  kIdentifier,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text = {};
};

constexpr std::string_view kSpecial = "=!(),><";
constexpr std::string_view kBlank = " \t\r\n";

bool IsOneOf(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

/// Splits a selector into tokens. As in Kubernetes, a NUL ends a word and, between words, the whole
/// text.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : rest_(text) {}

  Token Next() {
    while (!rest_.empty() && IsOneOf(rest_.front(), kBlank)) rest_.remove_prefix(1);
    if (rest_.empty() || rest_.front() == '\0') return {};
    return IsOneOf(rest_.front(), kSpecial) ? Symbol() : Word();
  }

 private:
  Token Take(TokenKind kind, size_t size) {
    const Token token{.kind = kind, .text = rest_.substr(0, size)};
    rest_.remove_prefix(size);
    return token;
  }

  Token Symbol() {
    if (rest_.starts_with("==")) return Take(TokenKind::kDoubleEquals, 2);
    if (rest_.starts_with("!=")) return Take(TokenKind::kNotEquals, 2);
    switch (rest_.front()) {
      case '=':
        return Take(TokenKind::kEquals, 1);
      case '!':
        return Take(TokenKind::kNot, 1);
      case '(':
        return Take(TokenKind::kOpen, 1);
      case ')':
        return Take(TokenKind::kClose, 1);
      case '>':
        return Take(TokenKind::kGreater, 1);
      case '<':
        return Take(TokenKind::kLess, 1);
      default:
        return Take(TokenKind::kComma, 1);
    }
  }

  Token Word() {
    size_t size = 0;
    while (size < rest_.size() && rest_[size] != '\0' && !IsOneOf(rest_[size], kSpecial) &&
           !IsOneOf(rest_[size], kBlank)) {
      ++size;
    }
    Token word = Take(TokenKind::kIdentifier, size);
    if (!rest_.empty() && rest_.front() == '\0') rest_.remove_prefix(1);
    if (word.text == "in") word.kind = TokenKind::kIn;
    if (word.text == "notin") word.kind = TokenKind::kNotIn;
    return word;
  }

  std::string_view rest_;
};

std::optional<int64_t> ToInt(std::string_view text) {
  // Go accepts a plus sign, but from_chars does not.
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string Joined(const Problems& problems) {
  return fmt::format("{}", fmt::join(problems, "; "));
}

/// Returns all errors of a requirement whose key has been checked already.
FieldErrors CheckValues(const Requirement& requirement) {
  FieldErrors errors;
  const Path path("values");
  const std::vector<std::string>& values = requirement.values;
  if (values.empty() && (requirement.op == Operator::kIn || requirement.op == Operator::kNotIn)) {
    errors.Invalid(path, codec::Array(), "for 'in', 'notin' operators, values set can't be empty");
  }
  const bool compares =
      requirement.op == Operator::kGreaterThan || requirement.op == Operator::kLessThan;
  for (size_t i = 0; i < values.size(); ++i) {
    if (compares && !ToInt(values[i]).has_value()) {
      errors.Invalid(path.Index(i), values[i],
                     "for 'Gt', 'Lt' operators, the value must be an integer");
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Problems problems = LabelValueProblems(values[i]);
    if (problems.empty()) continue;
    errors.Invalid(path.Index(i).Key(requirement.key), values[i], Joined(problems));
  }
  return errors;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : lexer_(text), token_(lexer_.Next()) {}

  Result<std::vector<Requirement>> Parse() {
    std::vector<Requirement> requirements;
    while (true) {
      if (!IsWord(token_) && token_.kind != TokenKind::kNot) {
        if (token_.kind == TokenKind::kEnd) return requirements;
        return Unexpected(token_, ", expected: !, identifier, or 'end of string'");
      }
      auto requirement = ParseRequirement();
      if (!requirement.has_value()) {
        return Fail(Reason::kBadRequest,
                    "unable to parse requirement: " + requirement.error().message);
      }
      requirements.push_back(*std::move(requirement));
      const Token after = Consume();
      if (after.kind == TokenKind::kEnd) return requirements;
      if (after.kind != TokenKind::kComma) {
        return Unexpected(after, ", expected: ',' or 'end of string'");
      }
      if (!IsWord(token_) && token_.kind != TokenKind::kNot) {
        return Unexpected(token_, ", expected: identifier after ','");
      }
    }
  }

 private:
  /// Returns whether the token is a word: `in` and `notin` are operators only where one is
  /// expected.
  static bool IsWord(const Token& token) {
    return token.kind == TokenKind::kIdentifier || token.kind == TokenKind::kIn ||
           token.kind == TokenKind::kNotIn;
  }

  static tl::unexpected<base::Error> Unexpected(const Token& found, std::string_view expected) {
    return Fail(Reason::kBadRequest, fmt::format("found '{}'{}", found.text, expected));
  }

  Token Consume() {
    const Token token = token_;
    if (token.kind != TokenKind::kEnd) token_ = lexer_.Next();
    return token;
  }

  bool AtEndOfRequirement() const {
    return token_.kind == TokenKind::kEnd || token_.kind == TokenKind::kComma;
  }

  Result<Requirement> ParseRequirement() {
    const bool negated = token_.kind == TokenKind::kNot;
    if (negated) Consume();
    const Token key = Consume();
    if (!IsWord(key)) return Unexpected(key, ", expected: identifier");
    if (const Problems problems = QualifiedNameProblems(key.text); !problems.empty()) {
      // Kubernetes has no path for the key, and prints that.
      FieldErrors errors;
      errors.Invalid(Path("<nil>"), key.text, Joined(problems));
      return Fail(Reason::kBadRequest, errors.Message());
    }
    Requirement requirement{.key = std::string(key.text)};
    if (negated) {
      requirement.op = Operator::kDoesNotExist;
      return requirement;
    }
    if (AtEndOfRequirement()) return requirement;
    if (auto parsed = ParseOperatorAndValues(requirement); !parsed.has_value()) {
      return tl::unexpected(parsed.error());
    }
    if (const FieldErrors errors = CheckValues(requirement); !errors.empty()) {
      return Fail(Reason::kBadRequest, errors.Message());
    }
    return requirement;
  }

  Result<void> ParseOperatorAndValues(Requirement& requirement) {
    const Token token = Consume();
    switch (token.kind) {
      case TokenKind::kIn:
        requirement.op = Operator::kIn;
        return ParseSet(requirement);
      case TokenKind::kNotIn:
        requirement.op = Operator::kNotIn;
        return ParseSet(requirement);
      case TokenKind::kEquals:
        requirement.op = Operator::kEquals;
        return ParseOne(requirement);
      case TokenKind::kDoubleEquals:
        requirement.op = Operator::kDoubleEquals;
        return ParseOne(requirement);
      case TokenKind::kNotEquals:
        requirement.op = Operator::kNotEquals;
        return ParseOne(requirement);
      case TokenKind::kGreater:
        requirement.op = Operator::kGreaterThan;
        return ParseOne(requirement);
      case TokenKind::kLess:
        requirement.op = Operator::kLessThan;
        return ParseOne(requirement);
      default:
        return Unexpected(token, ", expected: in, notin, =, ==, !=, gt, lt");
    }
  }

  Result<void> ParseOne(Requirement& requirement) {
    if (AtEndOfRequirement()) {
      requirement.values.emplace_back();
      return {};
    }
    const Token value = Consume();
    if (!IsWord(value)) return Unexpected(value, ", expected: identifier");
    requirement.values.emplace_back(value.text);
    return {};
  }

  Result<void> ParseSet(Requirement& requirement) {
    if (const Token open = Consume(); open.kind != TokenKind::kOpen) {
      return Unexpected(open, " expected: '('");
    }
    if (token_.kind == TokenKind::kClose) {
      Consume();
      return {};
    }
    if (!IsWord(token_) && token_.kind != TokenKind::kComma) {
      return Unexpected(token_, ", expected: ',', ')' or identifier");
    }
    std::set<std::string> values;
    if (auto parsed = ParseMembers(values); !parsed.has_value()) return parsed;
    Consume();  // It is ')', because ParseMembers stops nowhere else.
    requirement.values.assign(values.begin(), values.end());
    return {};
  }

  /// Parses up to the closing parenthesis. Empty text before, between or after commas is the empty
  /// value.
  Result<void> ParseMembers(std::set<std::string>& values) {
    while (true) {
      const Token token = Consume();
      if (IsWord(token)) {
        values.emplace(token.text);
        if (token_.kind == TokenKind::kClose) return {};
        if (token_.kind != TokenKind::kComma) return Unexpected(token_, ", expected: ',' or ')'");
      } else if (token.kind == TokenKind::kComma) {
        if (values.empty()) values.emplace();
        if (token_.kind == TokenKind::kClose) {
          values.emplace();
          return {};
        }
        if (token_.kind == TokenKind::kComma) {
          Consume();
          values.emplace();
        }
      } else {
        return Unexpected(token, ", expected: ',', or identifier");
      }
    }
  }

  Lexer lexer_;
  Token token_;
};

std::string_view OperatorText(Operator op) {
  switch (op) {
    case Operator::kEquals:
      return "=";
    case Operator::kDoubleEquals:
      return "==";
    case Operator::kNotEquals:
      return "!=";
    case Operator::kIn:
      return " in ";
    case Operator::kNotIn:
      return " notin ";
    case Operator::kGreaterThan:
      return ">";
    case Operator::kLessThan:
      return "<";
    case Operator::kExists:
    case Operator::kDoesNotExist:
      break;
  }
  return "";
}

}  // namespace

bool Requirement::Matches(std::optional<std::string_view> value) const {
  const auto listed = [&] { return std::ranges::binary_search(values, *value); };
  switch (op) {
    case Operator::kEquals:
    case Operator::kDoubleEquals:
    case Operator::kIn:
      return value.has_value() && listed();
    case Operator::kNotEquals:
    case Operator::kNotIn:
      return !value.has_value() || !listed();
    case Operator::kExists:
      return value.has_value();
    case Operator::kDoesNotExist:
      return !value.has_value();
    case Operator::kGreaterThan:
    case Operator::kLessThan:
      break;
  }
  if (!value.has_value() || values.size() != 1) return false;
  const std::optional<int64_t> left = ToInt(*value);
  const std::optional<int64_t> right = ToInt(values.front());
  if (!left.has_value() || !right.has_value()) return false;
  return op == Operator::kGreaterThan ? *left > *right : *left < *right;
}

std::string Requirement::ToString() const {
  if (op == Operator::kDoesNotExist) return "!" + key;
  if (op == Operator::kExists) return key;
  const bool set = op == Operator::kIn || op == Operator::kNotIn;
  std::string list = fmt::format("{}", fmt::join(values, ","));
  // This is the empty value alone. "()" would have no value at all, which is refused.
  if (set && list.empty()) list = ",";
  return fmt::format("{}{}{}{}{}", key, OperatorText(op), set ? "(" : "", list, set ? ")" : "");
}

Result<LabelSelector> LabelSelector::Parse(std::string_view text) {
  if (text.size() > kMaxSelectorBytes) {
    return Fail(Reason::kBadRequest,
                fmt::format("label selector has {} bytes, more than the {} that are read",
                            text.size(), kMaxSelectorBytes));
  }
  auto requirements = Parser(text).Parse();
  if (!requirements.has_value()) return tl::unexpected(requirements.error());
  LabelSelector selector;
  selector.requirements_ = *std::move(requirements);
  std::ranges::stable_sort(selector.requirements_, {}, &Requirement::key);
  return selector;
}

bool LabelSelector::Matches(const codec::Value& object) const {
  if (requirements_.empty()) return true;
  const codec::Object& labels = ObjectAt(object, "metadata", "labels");
  return MatchesLookup([&labels](std::string_view key) -> std::optional<std::string_view> {
    const codec::Value* value = labels.Find(key);
    if (value == nullptr) return std::nullopt;
    return Text(value);
  });
}

std::string LabelSelector::ToString() const {
  std::string text;
  for (const Requirement& requirement : requirements_) {
    if (!text.empty()) text += ',';
    text += requirement.ToString();
  }
  return text;
}

}  // namespace berth::rules
