// Runs `berth whois`.
#pragma once

#include <string>
#include <vector>

#include "berth/inspect/source_arguments.h"

namespace berth::cli {

/// The arguments as given. RunWhois checks them.
struct WhoisArguments {
  std::vector<std::string> values = {};
  SourceArguments source = {};
  OutputArguments output = {};
  std::string history = {};  ///< Data directory of `berth observe`.
  std::string at = {};       ///< A moment of the past.
};

/// Prints the answers. Returns the exit code: 0 if everything was found (a free value is), 1 if
/// something does not exist.
int RunWhois(const WhoisArguments& arguments);

}  // namespace berth::cli
