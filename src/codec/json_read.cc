#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/escape.h"
#include "codec/json.h"

namespace berth::codec {
namespace {

using simdjson::error_code;
using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr size_t kUnknown = std::string_view::npos;

// The unsafe getters skip a check of the type that the switch has made already.
Value ConvertScalar(const element& node) {
  switch (node.type()) {
    case element_type::INT64:
      return node.get_int64().value_unsafe();
    case element_type::UINT64:
      return node.get_uint64().value_unsafe();
    case element_type::DOUBLE:
      return node.get_double().value_unsafe();
    case element_type::STRING:
      return node.get_string().value_unsafe();
    case element_type::BOOL:
      return node.get_bool().value_unsafe();
    default:
      return nullptr;
  }
}

// Turns simdjson's tape into a Value. Recurses once per level, which the parser has bounded by
// then, but for one: it does not count an empty array or object as a level.
class Converter {
 public:
  explicit Converter(size_t max_depth) : levels_left_(max_depth) {}

  bool TooDeep() const { return too_deep_; }

  Value Convert(const element& node) {
    const bool is_array = node.is_array();
    if (!is_array && !node.is_object()) return ConvertScalar(node);
    if (levels_left_ == 0) {
      too_deep_ = true;
      return nullptr;
    }
    --levels_left_;
    Value value = is_array ? ConvertArray(node.get_array().value_unsafe())
                           : ConvertObject(node.get_object().value_unsafe());
    ++levels_left_;
    return value;
  }

 private:
  Value ConvertArray(const simdjson::dom::array& source) {
    Array array;
    array.reserve(source.size());
    for (const element node : source) array.push_back(Convert(node));
    return array;
  }

  Value ConvertObject(const simdjson::dom::object& source) {
    Object object;
    object.Reserve(source.size());
    for (const auto& [key, node] : source) object.Set(std::string(key), Convert(node));
    return object;
  }

  size_t levels_left_;
  bool too_deep_ = false;
};

// Where the faults are that can be found by telling strings from the rest; kUnknown if there is no
// such fault. simdjson itself does not say.
struct Faults {
  size_t control_character = kUnknown;  // The first one inside a string.
  size_t open_string = kUnknown;        // The quote that is never closed.
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

auto FailParse(const std::string& what) {
  return base::Fail(base::Reason::kBadRequest, "invalid JSON: " + what);
}

}  // namespace

base::Result<Value> ParseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return FailParse(fmt::format("{} bytes, which is more than the limit of {} bytes", text.size(),
                                 limits.bytes));
  }
  const size_t depth = std::min(limits.depth, kDeepestAllowed);
  simdjson::dom::parser parser;
  // simdjson refuses to start with no capacity, and counts the document itself as a level.
  error_code error = parser.allocate(std::max<size_t>(text.size(), 64), depth + 1);
  element document;
  if (error == simdjson::SUCCESS) {
    error = parser.parse(text.data(), text.size(), /*realloc_if_needed=*/true).get(document);
  }
  if (error != simdjson::SUCCESS) return FailParse(Sentence(error, text, depth));
  Converter converter(depth);
  Value value = converter.Convert(document);
  if (converter.TooDeep()) return FailParse(Sentence(simdjson::DEPTH_ERROR, text, depth));
  return value;
}

}  // namespace berth::codec
