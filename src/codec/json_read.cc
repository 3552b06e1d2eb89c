#include <utility>

#include "codec/decode_walk.h"
#include "codec/go_syntax.h"
#include "codec/json.h"
#include "codec/json_dom.h"

namespace berth::codec {
namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

// The unsafe getters skip a type check that the switch has already made.
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

// Converts simdjson's tape to a Value. It recurses once per level. The parser has bounded the depth
// by then, except that it does not count an empty array or object as a level.
class Converter {
 public:
  /// Duplicate members are reported to `notes`.
  Converter(size_t max_depth, WalkNotes& notes) : levels_left_(max_depth), notes_(notes) {}

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
    for (const element node : source) {
      const WalkNotes::Step step(notes_, array.size());
      array.push_back(Convert(node));
    }
    return array;
  }

  Value ConvertObject(const simdjson::dom::object& source) {
    Object object;
    object.Reserve(source.size());
    for (const auto& [key, node] : source) {
      const WalkNotes::Step step(notes_, nullptr, key);
      const size_t before = object.size();
      object.Set(std::string(key), Convert(node));
      if (object.size() == before) notes_.Report(Problem::Kind::kDuplicate);
    }
    return object;
  }

  size_t levels_left_;
  WalkNotes& notes_;
  bool too_deep_ = false;
};

// Parses a text. An Error says what is wrong, but not that the text should be JSON.
base::Result<JsonDocument> Read(std::string_view text, const JsonLimits& limits, bool report) {
  JsonDom dom;
  const auto document = dom.Parse(text, limits);
  if (!document) return tl::unexpected(document.error());
  const size_t depth = EffectiveDepth(limits);
  WalkNotes notes(report);
  Converter converter(depth, notes);
  Value value = converter.Convert(*document);
  if (converter.TooDeep()) {
    return base::Fail(base::Reason::kBadRequest, TooDeepSentence(text, depth));
  }
  return JsonDocument{.value = std::move(value), .problems = notes.TakeProblems()};
}

auto FailParse(const std::string& what) {
  return base::Fail(base::Reason::kBadRequest, "invalid JSON: " + what);
}

}  // namespace

base::Result<Value> ParseJson(std::string_view text, const JsonLimits& limits) {
  auto document = Read(text, limits, /*report=*/false);
  if (!document) return FailParse(document.error().message);
  return std::move(document->value);
}

base::Result<JsonDocument> ReadJson(std::string_view text, const JsonLimits& limits) {
  auto document = Read(text, limits, /*report=*/true);
  if (document) return document;
  const auto in_go = text.size() <= limits.bytes ? GoSyntaxError(text) : std::nullopt;
  if (in_go) return base::Fail(base::Reason::kBadRequest, *in_go);
  return FailParse(document.error().message);
}

}  // namespace berth::codec
