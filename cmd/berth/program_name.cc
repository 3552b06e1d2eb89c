#include "berth/program_name.h"

#include <utility>

namespace berth::cli {
namespace {

constexpr std::string_view kOwnName = "berth";
constexpr std::string_view kKubectl = "kubectl ";

bool runs_as_plugin = false;  // Written once, when the program starts.

bool IsLowerOr(char c, std::string_view others) {
  return (c >= 'a' && c <= 'z') || others.find(c) != std::string_view::npos;
}

/// Returns whether the name at this place is the command, and not a part of a path or of prose.
bool IsCommand(std::string_view text, size_t at) {
  if (at > 0 && std::string_view(" \n`(").find(text[at - 1]) == std::string_view::npos) {
    return false;
  }
  if (text.substr(0, at).ends_with(kKubectl)) return false;
  const std::string_view after = text.substr(at + kOwnName.size());
  if (after.starts_with(':')) return true;
  return after.size() > 1 && after[0] == ' ' && IsLowerOr(after[1], "-[");
}

}  // namespace

bool IsPlugin(std::string_view path) { return path.substr(path.rfind('/') + 1) == "kubectl-berth"; }

std::string AsPlugin(std::string text) {
  for (size_t at = text.find(kOwnName); at != std::string::npos; at = text.find(kOwnName, at)) {
    if (IsCommand(text, at)) {
      text.insert(at, kKubectl);
      at += kKubectl.size();
    }
    at += kOwnName.size();
  }
  return text;
}

void NoteProgramName(std::string_view path) { runs_as_plugin = IsPlugin(path); }

std::string AsInvoked(std::string text) {
  return runs_as_plugin ? AsPlugin(std::move(text)) : text;
}

}  // namespace berth::cli
