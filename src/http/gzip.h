// Compresses whole answers with gzip, at the fastest level. Pure functions for any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::http {

/// Smaller bodies are sent as they are, since compressing them costs more than it saves.
inline constexpr size_t kGzipAbove = size_t{128} << 10;

std::string Gzip(std::string_view bytes);

/// Returns whether an Accept-Encoding value accepts gzip, by name or as "*", and not with q=0.
bool AcceptsGzip(std::string_view accept_encoding);

}  // namespace berth::http
