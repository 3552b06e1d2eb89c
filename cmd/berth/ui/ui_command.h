// `berth ui`: shows the ranges of a cluster in the browser.
#pragma once

#include <string>

#include "berth/inspect/source_arguments.h"

namespace berth::cli {

struct UiArguments {
  SourceArguments source = {};
  std::string history = {};  ///< Data directory of `berth observe`.
  int port = 0;              ///< 0 means any free one.
  bool open = false;         ///< Start the browser.
  std::string version = {};  ///< Of Berth.
};

/// Runs until a signal ends it. Returns the exit code.
int RunUi(const UiArguments& arguments);

}  // namespace berth::cli
