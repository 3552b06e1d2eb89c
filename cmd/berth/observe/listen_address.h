// The address that an observer listens on. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace berth::cli {

struct ListenAddress {
  std::string host = "127.0.0.1";
  uint16_t port = 0;

  /// Returns whether only programs on the same machine can reach it.
  bool IsLoopback() const;
};

/// Parses "127.0.0.1:9464", "[::1]:9464" or ":9464", which is every address. Port 0 means any free
/// one.
base::Result<ListenAddress> ParseListenAddress(std::string_view text);

}  // namespace berth::cli
