// `berth lint`: checks manifests before they are applied.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "berth/inspect/source_arguments.h"

namespace berth::cli {

/// The arguments as given.
struct LintArguments {
  std::vector<std::string> paths = {};
  SourceArguments source = {};
  bool cluster = false;         ///< Check against the cluster that kubectl would use.
  std::string name_space = {};  ///< Empty means that of the context, or "default".
  std::string ephemeral_range = "32768-60999";
  std::vector<std::string> host_ports = {};  ///< Lists or files; "none" drops the usual ports.
  std::string format = "text";
  std::string fail_on = "warning";
};

/// Returns the exit code: 0 if nothing was found, 1 for findings of at least `fail_on`, 2 for
/// invalid arguments and for files that cannot be read.
int RunLint(const LintArguments& arguments, std::string_view version);

}  // namespace berth::cli
