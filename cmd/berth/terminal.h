// Where the program meets the operating system: files, standard output, and what the terminal can
// show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

/// How text may look.
struct Style {
  bool color = false;
  bool utf8 = false;
  size_t width = 100;  ///< columns
};

/// Colour only for a terminal that has not been asked to do without; UTF-8 as the locale says.
Style DetectStyle();

/// The content of a file; "-" is standard input. A file beyond `max_bytes` is not read further
/// than one byte beyond. The Error is what the system says.
base::Result<std::string> ReadAll(const std::string& path, size_t max_bytes);

/// Writes all of `text` to standard output. False, after a message, when that fails; a reader that
/// went away (`| head`) is no failure.
bool PrintOut(std::string_view text);

}  // namespace berth::cli
