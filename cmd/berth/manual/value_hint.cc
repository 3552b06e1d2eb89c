#include "berth/manual/value_hint.h"

#include <algorithm>
#include <utility>

namespace berth::cli {
namespace {

bool IsChoice(std::string_view word) {
  return !word.empty() && word.front() != '-' && std::ranges::all_of(word, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

/// Returns the words of "a, b or c". Returns no words if the text is anything else.
std::vector<std::string> ListedWords(std::string_view text) {
  constexpr std::string_view kOr = " or ";
  const size_t last = text.rfind(kOr);
  if (last == std::string_view::npos) return {};
  std::vector<std::string> words;
  std::string_view before = text.substr(0, last);
  for (size_t comma = before.find(", "); comma != std::string_view::npos;
       comma = before.find(", ")) {
    words.emplace_back(before.substr(0, comma));
    before.remove_prefix(comma + 2);
  }
  words.emplace_back(before);
  words.emplace_back(text.substr(last + kOr.size()));
  return std::ranges::all_of(words, IsChoice) ? words : std::vector<std::string>{};
}

std::vector<std::string> ChoicesIn(std::string_view help) {
  std::string_view text = help.substr(0, help.find_first_of("(;"));
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (const size_t colon = text.rfind(": "); colon != std::string_view::npos) {
    text.remove_prefix(colon + 2);
  }
  return ListedWords(text);
}

}  // namespace

ValueHint HintFor(std::string_view flag, std::string_view value, std::string_view help) {
  using enum ValueHint::Kind;
  if (flag == "--context") return {.kind = kContexts, .choices = {}};
  if (value == "FILE" || value == "PATH") return {.kind = kFiles, .choices = {}};
  if (value == "DIR") return {.kind = kFolders, .choices = {}};
  auto choices = ChoicesIn(help);
  if (choices.empty()) return {};
  return {.kind = kChoices, .choices = std::move(choices)};
}

}  // namespace berth::cli
