// Files, standard output, and what the terminal can show.
#pragma once

#include <cstddef>
#include <optional>
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

/// The fewest and the most columns that an output uses.
struct WidthLimits {
  size_t narrowest = 80;
  size_t widest = 100;
};

/// The size of a terminal.
struct Screen {
  size_t rows = 0;
  size_t columns = 0;
};

/// Returns the size of the terminal that standard output is, or nullopt if it is not a
/// terminal.
std::optional<Screen> DetectScreen();

/// Returns the lines of `text` that fit on the screen with one row left for the cursor. If there
/// are more, the last row says how many. Lines that are too wide for the screen need several rows.
std::string FitToScreen(std::string_view text, const Screen& screen);

/// Returns colour only for a terminal without NO_COLOR or TERM=dumb, UTF-8 if the locale has it,
/// and the width of the terminal within the limits. What is not a terminal has 100 columns.
Style DetectStyle(const WidthLimits& limits = {});

/// Returns the content of a file; "-" is standard input. Reads at most one byte more than
/// `max_bytes`, so that the caller can see that the file is too large. The Error is the system's.
base::Result<std::string> ReadAll(const std::string& path, size_t max_bytes);

/// Writes `text` to standard output. Prints a message and returns false if that fails. A reader
/// that closed the pipe (`| head`) is not a failure.
bool PrintOut(std::string_view text);

/// Returns false if standard output is a pipe that its reader has closed.
bool OutputHasReader();

}  // namespace berth::cli
