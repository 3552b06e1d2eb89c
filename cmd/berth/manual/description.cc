#include "berth/manual/description.h"

#include <string_view>

namespace berth::cli {

std::string LastWord(const CommandDescription& command) {
  return command.name.substr(command.name.rfind(' ') + 1);
}

std::vector<const CommandDescription*> AllCommands(const CommandDescription& program) {
  std::vector<const CommandDescription*> all = {&program};
  for (const CommandDescription& command : program.commands) {
    const auto below = AllCommands(command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

}  // namespace berth::cli
