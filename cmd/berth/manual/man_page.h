// Manual pages in troff with the macros of man(7). Pure functions of the description of the
// program. There is a page for each command: berth(1), berth-snapshot(1), berth-snapshot-save(1).
#pragma once

#include <string>
#include <string_view>

#include "berth/manual/description.h"

namespace berth::cli {

/// Returns the text so that troff prints exactly this text, wherever a line begins.
std::string TroffEscaped(std::string_view utf8);

/// Returns the name of the page of a command: "berth-snapshot-save".
std::string PageName(const CommandDescription& command);

/// Returns the page of a command, which is `program` or one below it.
std::string ManPage(const CommandDescription& program, const CommandDescription& command,
                    std::string_view version);

}  // namespace berth::cli
