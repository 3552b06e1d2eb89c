// Reads and writes small files.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

/// Writes a file with mode 0600. It writes to `path`.new and renames that, so that a reader sees
/// the old file or the complete new one.
base::Result<void> WritePrivateFile(const std::string& path, std::string_view content);

/// Does the same with mode 0644, for files that everyone may read.
base::Result<void> WritePublicFile(const std::string& path, std::string_view content);

/// Returns the content of a file that a flag names. The error names the flag.
base::Result<std::string> ReadFlagFile(std::string_view flag, const std::string& path);

}  // namespace berth::cli
