// Renders the first line of an answer: what it is about, and what there is to say in a few words.
#pragma once

#include <string>
#include <string_view>

#include "berth/paint.h"

namespace berth::cli {

/// Returns the title in bold, the words, and the last words in a colour. Where the terminal is too
/// narrow, the words stand below the title. Ends with a newline.
std::string HeadingText(const Paint& paint, std::string_view title, std::string_view words,
                        std::string_view last = {}, Color color = Color::kNone);

}  // namespace berth::cli
