#include "rules/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace berth::rules {
namespace {

using base::IsDigit;

constexpr size_t kMaxLabel = 63;
constexpr size_t kMaxSubdomain = 253;
constexpr size_t kMaxPortName = 15;

constexpr std::string_view kLabelMessage =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kSubdomainMessage =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view k1035Message =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
    "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
    "regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kQualifiedMessage =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueMessage =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsLowerAlnum(char c) { return IsLower(c) || IsDigit(c); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }

bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerAlnum(text.front()) && IsLowerAlnum(text.back()) &&
         std::ranges::all_of(text, [](char c) { return IsLowerAlnum(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view text) {
  while (true) {
    const size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

/// Returns whether the text is valid as the name part of a label key. A non-empty label value has
/// the same syntax.
bool IsLabelName(std::string_view text) {
  return !text.empty() && IsAlnum(text.front()) && IsAlnum(text.back()) &&
         std::ranges::all_of(text,
                             [](char c) { return IsAlnum(c) || c == '-' || c == '_' || c == '.'; });
}

std::string TooManyBytes(size_t most) { return fmt::format("must be no more than {} bytes", most); }

std::string TooManyCharacters(size_t most) {
  return fmt::format("must be no more than {} characters", most);
}

void AddPrefixProblems(Problems& problems, std::string_view prefix) {
  if (prefix.empty()) problems.emplace_back("prefix part must be non-empty");
  if (prefix.size() > kMaxSubdomain) {
    problems.push_back("prefix part " + TooManyBytes(kMaxSubdomain));
  }
  if (!prefix.empty() && !IsDnsSubdomain(prefix)) {
    problems.push_back(fmt::format("prefix part {}", kSubdomainMessage));
  }
}

/// Returns the text that a name rule checks for a generateName. A dash before the random part is
/// valid, so an ending that would be an error is replaced by a letter.
std::string Masked(std::string_view text, bool prefix) {
  if (!prefix || text.size() < 2 || text.back() != '-') return std::string(text);
  return std::string(text.substr(0, text.size() - 2)) + "a";
}

}  // namespace

Problems Dns1123LabelProblems(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxLabel) problems.push_back(TooManyCharacters(kMaxLabel));
  if (!IsDnsLabel(text)) {
    problems.emplace_back(IsDnsSubdomain(text) ? "must not contain dots" : kLabelMessage);
  }
  return problems;
}

Problems Dns1123SubdomainProblems(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxSubdomain) problems.push_back(TooManyCharacters(kMaxSubdomain));
  if (!IsDnsSubdomain(text)) problems.emplace_back(kSubdomainMessage);
  return problems;
}

Problems Dns1035LabelProblems(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxLabel) problems.push_back(TooManyCharacters(kMaxLabel));
  if (!IsDnsLabel(text) || !IsLower(text.front())) problems.emplace_back(k1035Message);
  return problems;
}

Problems QualifiedNameProblems(std::string_view text) {
  Problems problems;
  std::string_view name = text;
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      problems.push_back(
          fmt::format("a valid label key {} with an optional DNS subdomain prefix "
                      "and '/' (e.g. 'example.com/MyName')",
                      kQualifiedMessage));
      return problems;
    }
    AddPrefixProblems(problems, text.substr(0, slash));
  }
  if (name.empty()) problems.emplace_back("name part must be non-empty");
  if (name.size() > kMaxLabel) problems.push_back("name part " + TooManyBytes(kMaxLabel));
  if (!IsLabelName(name)) problems.push_back(fmt::format("name part {}", kQualifiedMessage));
  return problems;
}

Problems LabelValueProblems(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxLabel) problems.push_back(TooManyBytes(kMaxLabel));
  if (!text.empty() && !IsLabelName(text)) problems.emplace_back(kLabelValueMessage);
  return problems;
}

Problems PortNameProblems(std::string_view text) {
  Problems problems;
  if (text.size() > kMaxPortName) problems.push_back(TooManyCharacters(kMaxPortName));
  if (!std::ranges::all_of(text, [](char c) { return IsLowerAlnum(c) || c == '-'; }) ||
      text.empty()) {
    problems.emplace_back("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (std::ranges::none_of(text, IsLower)) {
    problems.emplace_back("must contain at least one letter (a-z)");
  }
  if (text.find("--") != std::string_view::npos) {
    problems.emplace_back("must not contain consecutive hyphens");
  }
  if (!text.empty() && (text.front() == '-' || text.back() == '-')) {
    problems.emplace_back("must not begin or end with a hyphen");
  }
  return problems;
}

Problems PortNumberProblems(int64_t port) {
  if (port >= 1 && port <= 65535) return {};
  return {"must be between 1 and 65535, inclusive"};
}

Problems PathSegmentProblems(std::string_view text, bool prefix) {
  if (!prefix && text == ".") return {"may not be '.'"};
  if (!prefix && text == "..") return {"may not be '..'"};
  Problems problems;
  for (const char c : {'/', '%'}) {
    if (text.find(c) != std::string_view::npos) {
      problems.push_back(fmt::format("may not contain '{}'", c));
    }
  }
  return problems;
}

Problems NameIsDnsLabel(std::string_view text, bool prefix) {
  return Dns1123LabelProblems(Masked(text, prefix));
}

Problems NameIsDnsSubdomain(std::string_view text, bool prefix) {
  return Dns1123SubdomainProblems(Masked(text, prefix));
}

Problems NameIsDns1035Label(std::string_view text, bool prefix) {
  return Dns1035LabelProblems(Masked(text, prefix));
}

Problems NameIsPathSegment(std::string_view text, bool prefix) {
  return PathSegmentProblems(text, prefix);
}

std::string GeneratedName(std::string_view base, std::string_view random) {
  std::string name(base.substr(0, kMaxLabel - kGeneratedSuffixLength));
  name += random;
  return name;
}

}  // namespace berth::rules
