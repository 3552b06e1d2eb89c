// simdjson's parser with Berth's limits and error messages, for the JSON readers in this folder.
// This is the only header that shows simdjson; include it from .cc files only.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/json.h"

namespace berth::codec {

/// A parsed text. Small texts share one parser per thread, so that its memory is not allocated for
/// each. So there may be only one JsonDom at a time on a thread.
class JsonDom {
 public:
  /// Parses and validates the whole text. An Error says what is wrong, but
  /// not that the text should be JSON.
  base::Result<simdjson::dom::element> Parse(std::string_view text, const JsonLimits& limits);

 private:
  std::unique_ptr<simdjson::dom::parser> own_;  // Parser of a large text.
};

/// Returns the depth limit that applies: `limits.depth`, but at most kDeepestAllowed.
size_t EffectiveDepth(const JsonLimits& limits);

/// Returns the message for a text that is too deep although it was parsed: simdjson does not count
/// an empty array or object as a level.
std::string TooDeepSentence(std::string_view text, size_t depth);

}  // namespace berth::codec
