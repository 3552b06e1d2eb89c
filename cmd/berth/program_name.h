// The name by which the user runs the program: `berth`, or `kubectl berth` if kubectl runs it as
// its plugin kubectl-berth.
#pragma once

#include <string>
#include <string_view>

namespace berth::cli {

/// Returns whether the program runs as kubectl's plugin. `path` is the first of its arguments.
bool IsPlugin(std::string_view path);

/// Returns the text with `kubectl berth` where it says `berth` and means the command: before a
/// word, a bracket or a colon, and after a blank or at the beginning of a line or of quoted code.
std::string AsPlugin(std::string text);

/// Notes how the program was started. Call it before there are other threads.
void NoteProgramName(std::string_view path);

/// Returns the text as AsPlugin does if the program runs as the plugin, and as it is otherwise. All
/// help and error messages go through it.
std::string AsInvoked(std::string text);

}  // namespace berth::cli
