// Runs `berth map`.
#pragma once

#include <optional>
#include <string>

#include "berth/inspect/source_arguments.h"

namespace berth::cli {

/// The arguments as given. RunMap checks them.
struct MapArguments {
  std::string range = {};  ///< Empty means a list of all ranges.
  std::string at = {};
  std::optional<unsigned> depth = {};
  SourceArguments source = {};
  OutputArguments output = {};
};

/// Prints the drawing. Returns the exit code.
int RunMap(const MapArguments& arguments);

}  // namespace berth::cli
