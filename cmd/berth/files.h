// Small files that must be whole and private.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

/// Writes beside `path` and renames, so that a reader sees the old file or the whole new one. Mode
/// 0600.
base::Result<void> WritePrivateFile(const std::string& path, std::string_view content);

/// The content of a file that a flag names; the error says which flag.
base::Result<std::string> ReadFlagFile(std::string_view flag, const std::string& path);

}  // namespace berth::cli
