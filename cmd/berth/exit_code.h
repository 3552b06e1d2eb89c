// The program's exit codes.
#pragma once

namespace berth::cli {

inline constexpr int kFine = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadUsage = 2;  ///< an argument or a file is invalid

}  // namespace berth::cli
