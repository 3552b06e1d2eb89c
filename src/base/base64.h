// Bytes as text: base64 with padding, as in kubeconfigs, and its form for URLs, without. Pure
// functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace berth::base {

std::string Base64(std::string_view bytes);
std::string Base64Url(std::string_view bytes);

/// Padding may be missing. On failure the index of the character that is wrong.
tl::expected<std::string, size_t> FromBase64(std::string_view text);
tl::expected<std::string, size_t> FromBase64Url(std::string_view text);

}  // namespace berth::base
