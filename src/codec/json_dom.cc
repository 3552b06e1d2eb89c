#include "codec/json_dom.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/escape.h"

namespace berth::codec {
namespace {

using simdjson::error_code;
using simdjson::dom::element;

constexpr size_t kUnknown = std::string_view::npos;

// Most bodies are smaller. For this size a thread's parser takes less than a megabyte, of which
// only the parts that texts needed are ever touched.
constexpr size_t kLargestShared = size_t{32} * 1024;

// Offsets of the faults that can be found by telling strings from other text, or kUnknown if there
// is no such fault. simdjson itself does not report them.
struct Faults {
  size_t control_character = kUnknown;  // The first one in a string.
  size_t open_string = kUnknown;        // A quote that is never closed.
  size_t too_deep = kUnknown;           // The first bracket beyond the limit.
};

Faults FindFaults(std::string_view text, size_t max_depth) {
  Faults faults;
  size_t depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool in_string = faults.open_string != kUnknown;
    if (c == '\\') {
      ++i;
    } else if (c == '"') {
      faults.open_string = in_string ? kUnknown : i;
    } else if (in_string) {
      const bool control = static_cast<unsigned char>(c) < 0x20;
      if (control && faults.control_character == kUnknown) faults.control_character = i;
    } else if (c == '[' || c == '{') {
      if (++depth == max_depth + 1 && faults.too_deep == kUnknown) faults.too_deep = i;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return faults;
}

std::string At(size_t offset) {
  return offset == kUnknown ? std::string() : fmt::format(" at byte {}", offset);
}

std::string Sentence(error_code error, std::string_view text, size_t max_depth) {
  switch (error) {
    case simdjson::EMPTY:
      return "there is nothing but white space";
    case simdjson::UTF8_ERROR:
      return "not UTF-8" + At(base::FindInvalidUtf8(text));
    case simdjson::DEPTH_ERROR:
      return fmt::format("arrays and objects are nested more than {} deep{}", max_depth,
                         At(FindFaults(text, max_depth).too_deep));
    case simdjson::UNESCAPED_CHARS:
      return "a string holds a control character" + At(FindFaults(text, 0).control_character);
    case simdjson::UNCLOSED_STRING:
      return "a string has no end; it begins" + At(FindFaults(text, 0).open_string);
    case simdjson::STRING_ERROR:
      return "a string holds an escape that JSON does not have";
    case simdjson::NUMBER_ERROR:
    case simdjson::NUMBER_OUT_OF_RANGE:
      return "a number is malformed or out of range";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
      return "a word is not true, false or null";
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
      return "there is not enough memory for it";
    default:
      return "a bracket, comma, colon or value is missing, misplaced or left over";
  }
}

struct SharedParser {
  simdjson::dom::parser parser;
  size_t depth = 0;  // 0 before the first use.
};

// simdjson counts the document itself as a level.
error_code Allocate(simdjson::dom::parser& parser, size_t bytes, size_t depth) {
  return parser.allocate(bytes, depth + 1);
}

}  // namespace

size_t EffectiveDepth(const JsonLimits& limits) { return std::min(limits.depth, kDeepestAllowed); }

std::string TooDeepSentence(std::string_view text, size_t depth) {
  return Sentence(simdjson::DEPTH_ERROR, text, depth);
}

base::Result<element> JsonDom::Parse(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("{} bytes, which is more than the limit of {} bytes", text.size(),
                                  limits.bytes));
  }
  if (text.empty()) text = "";  // simdjson copies from it, so it must not be null.
  const size_t depth = EffectiveDepth(limits);
  static thread_local SharedParser shared;
  simdjson::dom::parser* parser = &shared.parser;
  error_code error = simdjson::SUCCESS;
  if (text.size() > kLargestShared) {
    own_ = std::make_unique<simdjson::dom::parser>();
    parser = own_.get();
    error = Allocate(*parser, text.size(), depth);
  } else if (shared.depth != depth) {
    error = Allocate(*parser, kLargestShared, depth);
    shared.depth = error == simdjson::SUCCESS ? depth : 0;
  }
  element document;
  if (error == simdjson::SUCCESS) {
    error = parser->parse(text.data(), text.size(), /*realloc_if_needed=*/true).get(document);
  }
  if (error != simdjson::SUCCESS) {
    return base::Fail(base::Reason::kBadRequest, Sentence(error, text, depth));
  }
  return document;
}

}  // namespace berth::codec
