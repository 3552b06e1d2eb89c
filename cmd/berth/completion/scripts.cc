#include "berth/completion/scripts.h"

namespace berth::cli {

std::optional<std::string> CompletionScript(const CommandDescription& program,
                                            std::string_view shell) {
  if (shell == "bash") return BashScript(program);
  if (shell == "zsh") return ZshScript(program);
  if (shell == "fish") return FishScript(program);
  return std::nullopt;
}

}  // namespace berth::cli
