// What the program tells the shell.
#pragma once

namespace berth::cli {

inline constexpr int kFine = 0;
inline constexpr int kFailed = 1;
inline constexpr int kBadUsage = 2;  ///< an argument, or a file it names, is wrong

}  // namespace berth::cli
