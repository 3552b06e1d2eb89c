// What a shell can offer as the value of a flag or an argument. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

struct ValueHint {
  enum class Kind {
    kNothing,  ///< the shell cannot know
    kChoices,
    kFiles,
    kFolders,
    kContexts,  ///< the contexts of the kubeconfig
  };

  Kind kind = Kind::kNothing;
  std::vector<std::string> choices;  ///< for kChoices
};

/// Returns the hint for the value of a flag or of an argument. `flag` is the long name of a flag,
/// and empty for an argument. `value` is the word that stands for the value: FILE, DIR, FORMAT.
/// Choices are those that the help names last, as in "Output format: table, json or yaml (default
/// table)".
ValueHint HintFor(std::string_view flag, std::string_view value, std::string_view help);

}  // namespace berth::cli
