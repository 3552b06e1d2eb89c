// Bytes as text: base64 with padding, as in kubeconfigs, and base64url
// without padding. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace berth::base {

std::string Base64(std::string_view bytes);
std::string Base64Url(std::string_view bytes);

/// Decodes `text`, whose padding may be missing. On failure, returns the
/// index of the wrong character.
tl::expected<std::string, size_t> FromBase64(std::string_view text);
tl::expected<std::string, size_t> FromBase64Url(std::string_view text);

}  // namespace berth::base
