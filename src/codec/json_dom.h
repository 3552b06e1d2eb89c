// simdjson's parser with our limits and our words, for the readers of JSON in this folder. The only
// header that shows simdjson; include it from .cc files only.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json.h"

namespace berth::codec {

/// A parsed text. Small texts share one parser per thread, so that its memory is not made anew for
/// each: on one thread there may be one JsonDom at a time.
class JsonDom {
 public:
  /// The whole text is validated. An Error says what is wrong, without saying that this is JSON.
  base::Result<simdjson::dom::element> Parse(std::string_view text, const JsonLimits& limits);

 private:
  std::unique_ptr<simdjson::dom::parser> own_;  // For a large text.
};

/// The depth that counts: `limits.depth` as far as it is honoured.
size_t EffectiveDepth(const JsonLimits& limits);

/// Says that a text that was parsed is too deep after all: simdjson does not count an empty array
/// or object as a level.
std::string TooDeepSentence(std::string_view text, size_t depth);

}  // namespace berth::codec
