// Starts the browser of the user.
#pragma once

#include <string>

#include "base/result.h"

namespace berth::cli {

/// Asks the desktop to show an address, without a shell. Does not wait for the browser. Fails if
/// there is no program for it.
base::Result<void> OpenBrowser(const std::string& url);

}  // namespace berth::cli
